// The statistics of a run while several threads add to them: one histogram of each tensor, whatever
// the number of threads. Not for use outside calibrate/.
#ifndef RSHIFT_CALIBRATE_SHARED_STATISTICS_H_
#define RSHIFT_CALIBRATE_SHARED_STATISTICS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "calibrate/observation.h"
#include "calibrate/statistics.h"
#include "calibrate/tensor_counter.h"

namespace rshift {

class SharedStatistics {
 public:
  // `total`: has a tensor for each of the plan's names.
  SharedStatistics(const ObservationPlan& plan, StatisticsFile& total)
      : plan_(plan), total_(total), tensors_(plan.names.size()) {}

  // One sample of one thread, whose tensors are added one after the other. Once one is, without
  // Finish the statistics hold a part of a sample, and are worthless.
  class Addition {
   public:
    explicit Addition(SharedStatistics& to);  // waits while the statistics are used
    ~Addition();
    Addition(const Addition&) = delete;
    Addition& operator=(const Addition&) = delete;
    void Add(int statistic, TensorCounter& counter, const RecordedSample& sample,
             TensorMemory& memory);
    // Of a derived statistic, whose values are those of others.
    void AddPeak(int statistic, float peak);
    void Finish(RecordedSample sample);

   private:
    SharedStatistics& to_;
    bool added_ = false, finished_ = false;
  };

  // When no sample is being added, and none has failed halfway: completes the statistics and calls
  // `use`.
  void UseWhole(const std::function<void()>& use);

 private:
  void Complete();

  const ObservationPlan& plan_;
  StatisticsFile& total_;  // each of its tensors is guarded by that of tensors_
  std::vector<std::mutex> tensors_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Below, and total_.samples and recorded: guarded by mutex_.
  int adding_ = 0;      // samples at the moment
  bool using_ = false;  // or going to be
  bool failed_ = false;
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_SHARED_STATISTICS_H_
