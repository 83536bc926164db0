// What a tool asks of the process it runs in, and how it speaks through its standard streams.
// Linked into a program, it also makes an exception that nobody can catch (memory that runs out in
// a library while a program runs or is loaded) end in an `error:` line and exit code 1.
#ifndef RSHIFT_TOOLS_PROCESS_H_
#define RSHIFT_TOOLS_PROCESS_H_

namespace rshift {

// To be called first:
// - Standard streams that are closed are taken by /dev/null, opened in the direction nobody uses:
//   no data file can get their number, and what is printed or read there fails.
// - SIGXFSZ and SIGPIPE are ignored: the write() past a file-size limit or into a closed pipe fails
//   and is reported like any other, with nothing half-written.
// - OpenMP's threads are started through our pthread_create, and libgomp's last words written
//   through our fwrite (process.cc): where the system gives no more threads or memory, libgomp
//   would end the process with a text of its own; so one `error:` line does.
void SetUpProcess();

// Flushes the standard output. Throws kIo when anything printed so far did not arrive: a full disk
// behind a redirection, a reader that has gone, a closed stream.
void FinishStandardOutput();

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PROCESS_H_
