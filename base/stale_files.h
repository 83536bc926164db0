// Names of the temporary files of atomic_file.cc, and the removal of those whose writer was killed.
// Not for use outside base/.
#ifndef RSHIFT_BASE_STALE_FILES_H_
#define RSHIFT_BASE_STALE_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace rshift {

// ".rshift-<domain>-<pid>-<number>.tmp". The domain stands for the boot of this machine and the
// namespace in which process ids are counted: equal domains mean that a pid names the same process.
std::string TemporaryName(pid_t pid, uint64_t number);

// Removes from `directory` the temporary files of this domain whose process is gone, also what
// libzip puts behind such a name (".tmp.a1B2c3"). Files of another machine, another container or an
// earlier boot stay, since nothing here can tell that they are not in use; so does the file of a
// process whose pid has been given to another one, until that ends. Looks once in the life of this
// process at a directory, and never fails: what cannot be listed or removed stays.
void RemoveStaleFiles(const std::string& directory);

}  // namespace rshift

#endif  // RSHIFT_BASE_STALE_FILES_H_
