package @PACKAGE@;

import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.SparkStatusTracker;
import scala.Option;

/** The jobs of one write, which another thread can cancel. */
final class TaggedJobs {
    private static final int LOOKS = 300;
    private static final long MILLIS = 100;

    private final SparkContext context;
    private final String tag = "deltaic-write-" + UUID.randomUUID();
    private final CountDownLatch isEnded = new CountDownLatch(1);

    TaggedJobs(SparkContext context) { this.context = context; }

    /** Marks the jobs that this thread runs from now on. */
    void begin() { context.addJobTag(tag); }

    void end() {
        context.removeJobTag(tag);
        isEnded.countDown();
    }

    /** Cancels the jobs, and waits for the end. */
    void stop() throws InterruptedException {
        while (!isEnded.await(MILLIS, TimeUnit.MILLISECONDS)) context.cancelJobsWithTag(tag);
    }

    /** Waits until no task runs any more after the jobs have failed, but at most 30 s. */
    void awaitTasks() throws InterruptedException {
        for (int look = 0; look < LOOKS && hasTasks(); look++) Thread.sleep(MILLIS);
    }

    private boolean hasTasks() {
        SparkStatusTracker tracker = context.statusTracker();
        int[] jobs = tracker.getJobIdsForTag(tag);
        for (int j = 0; j < jobs.length; j++) {
            Option job = tracker.getJobInfo(jobs[j]);
            if (job.isEmpty()) continue;
            int[] stages = ((SparkJobInfo) job.get()).stageIds();
            for (int s = 0; s < stages.length; s++) {
                Option stage = tracker.getStageInfo(stages[s]);
                if (stage.isDefined() && ((SparkStageInfo) stage.get()).numActiveTasks() > 0) return true;
            }
        }
        return false;
    }
}
