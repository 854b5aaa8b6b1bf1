package @PACKAGE@;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A question to Python: a tree of filters, answered by one byte for each file, or aggregates. */
final class Question implements Callable {
    private static final long SECONDS = 60;

    private final Function python;
    private final String text;

    private Question(Function python, String text) {
        this.python = python;
        this.text = text;
    }

    /** The answer; null if there is none in time, or after an error. */
    static Object ask(Function python, String text) {
        // On another thread: a callback that hangs would hang the query.
        FutureTask task = new FutureTask(new Question(python, text));
        Threads.POOL.execute(task);
        try {
            return task.get(SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return null;
        } catch (Exception error) {
            return null;
        }
    }

    public Object call() { return python.apply(text); }
}
