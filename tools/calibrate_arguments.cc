#include "tools/calibrate_arguments.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "pipeline/usage.h"
#include "tools/shard_environment.h"

namespace rshift {

void CalibrateArguments::AddTo(CLI::App& app) {
  model.AddTo(app);
  auto* data = app.add_option(
      "--dataset", dataset,
      "image, folder, 'pattern*.jpg', .txt list, .npy, .npz, .tar or idx file; NAME=PATH for "
      "several inputs");
  auto* from = app.add_option("--from-statistics", from_statistics,
                              "derive the table from statistics files: no data set, no model run");
  data->excludes(from);
  app.add_option("-o,--output", output, "the calibration table to write");
  for (CLI::Option* option : preprocess.AddTo(app, "how images become the input; recorded"))
    option->excludes(from);
  app.add_option("--samples", samples, "how many samples; 0 = all (default 100)")
      ->check(NotNegative())
      ->excludes(from);
  app.add_option("--seed", seed, "which samples are chosen (default 0)")
      ->check(NotNegative())
      ->excludes(from);
  auto* skip =
      app.add_flag(
             "--skip-bad", skip_bad,
             "leave out samples that cannot be read, at most one in ten, and list them: reads "
             "every sample once before any are chosen (default: the first is an error)")
          ->excludes(from);
  auto* how =
      app.add_option("--method", method,
                     Cat(kMethodChoices,
                         " (default kl); auto: for each tensor the one with which its consumers "
                         "compute the best integers on 16 of the samples; all: a table for each, "
                         "-o t.yaml gives t.minmax.yaml, t.kl.yaml ..."))
          ->check(TakenBy([](const std::string& text) {
            if (text != kEveryMethod && text != kAutoMethod) ParseMethod(text);
          }));
  auto* rank = app.add_option("--percentile", percentile,
                              "for --method percentile, auto and all (default 99.99)");
  app.add_option("--equalize", equalize,
                 "auto: scale channels into each other's range where 8 bits gain by it (default); "
                 "weights: only where constants take the factors, so that SiLU, GELU and the like "
                 "keep one table for all channels; off (default with --format tpu-mlir, whose "
                 "tables cannot hold it; model_deploy --equalize off does it afterwards); or "
                 "TABLE.yaml: as that table has it")
      ->excludes(from);
  auto* same =
      app.add_flag("--portable", portable,
                   "run the float network with the same bytes on every CPU, so that machines of "
                   "different types write the same statistics and tables; takes up to twice as "
                   "long")
          ->excludes(from);
  app.add_option("--threads", threads,
                 "samples in parallel; one more thread reads ahead (default: OMP_NUM_THREADS or "
                 "all cores)")
      ->check(CLI::Range(1, kMaxThreads));
  app.add_option("--statistics", statistics,
                 "also write the statistics: mergeable, any method later");
  auto* page =
      app.add_option("--report", report,
                     "also write an HTML page: every tensor's histogram, the range of every "
                     "method, and the samples that set its ends");
  app.add_option(
         "--shard", shard,
         "I/N: of the chosen samples, every N-th from I (0-based); auto: I and N of the Slurm "
         "array, MPI rank or srun task; auto/N: of the Kubernetes index or GNU parallel job")
      ->excludes(from);
  auto* form = app.add_option("--format", format, "rshift | tpu-mlir (default rshift)")
                   ->check(CLI::IsMember({"rshift", "tpu-mlir"}));
  auto* again = app.add_flag("--resume", resume, "carry on an interrupted run")->excludes(from);
  auto* anew =
      app.add_flag("--restart", restart, "begin anew, dropping what an interrupted run has left")
          ->excludes(from)
          ->excludes(again);
  app.add_flag("--partial", partial, "with --from-statistics: shards may be missing")->needs(from);
  auto* look =
      app.add_flag("--check", check,
                   "look at the preprocessing instead: tries the usual mistakes, writes no table");
  for (CLI::Option* of_tables : {from, how, rank, form, again, anew, skip, page, same})
    look->excludes(of_tables);
  app.add_option("--labels", labels, "with --check: labels as model_runner takes them, also auto");
  app.add_option("--picture", picture, "with --check: the first input as .png");
  app.add_flag("--json", json, "machine-readable summary on stdout");
}

std::string CalibrateArguments::TablePath(std::string_view of_method) const {
  const std::filesystem::path path = output;
  const std::string name = Cat(path.stem().string(), ".", of_method, path.extension().string());
  return (path.parent_path() / name).string();
}

RunPaths CalibrateArguments::Paths() const {
  RunPaths paths;
  model.AddTo(paths);
  paths.AddData("--dataset", dataset);
  paths.AddInputs("--from-statistics", from_statistics);
  paths.AddInputs("--preprocess", {preprocess.file()});
  paths.AddInputs("--labels", {labels});
  if (equalize && equalize != "auto" && equalize != "weights" && equalize != "off")
    paths.AddInputs("--equalize", {*equalize});
  paths.outputs = {{"--statistics", statistics}, {"--picture", picture}, {"--report", report}};
  if (!every_method() || output.empty() || output == "-")
    paths.outputs.push_back({"--output", output});
  for (const Method one : every_method() && !output.empty() ? AllMethods() : std::vector<Method>{})
    paths.outputs.push_back({Cat("the table of --method ", Name(one)), TablePath(Name(one))});
  if (from_statistics.empty() && !output.empty())
    paths.outputs.push_back({"the checkpoint of --output", Checkpoint()});
  return paths;
}

CalibrateOptions CalibrateArguments::Options() const {
  CalibrateOptions options{.model = {model.path}};
  options.every_method = every_method();
  options.automatic = automatic();
  if (!options.every_method && !options.automatic) options.method.method = ParseMethod(method);
  if (percentile) {
    RequireUsage(
        options.every_method || options.automatic || options.method.method == Method::kPercentile,
        "--percentile needs --method percentile, auto or all");
    options.method.percentile = *percentile;
  }
  if (format == "tpu-mlir") {
    RequireUsage(equalize.value_or("off") == "off", "--equalize ", equalize.value_or(""),
                 ": the tables of --format tpu-mlir cannot hold an equalization; give "
                 "--equalize off or leave it out, or write the table as rshift");
    if (from_statistics.empty()) options.equalize = "off";
  } else {
    options.equalize = equalize.value_or("auto");
  }
  options.dataset = dataset;
  options.preprocess = preprocess;
  options.samples = samples;
  options.seed = seed;
  options.skip_bad = skip_bad;
  options.shard = ResolveShard(shard, [](const char* name) { return std::getenv(name); });
  options.portable = portable;
  options.threads = threads;
  if (from_statistics.empty()) options.checkpoint = Checkpoint();
  options.resume = resume;
  for (const std::string& path : from_statistics) options.statistics.push_back({path});
  options.partial = partial;
  options.report = !report.empty();
  return options;
}

}  // namespace rshift
