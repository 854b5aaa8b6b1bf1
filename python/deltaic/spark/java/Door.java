package @PACKAGE@;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.classic.SparkSession;

/**
 * Operations of Python that Spark asks for. Python answers an error as a text with a token, never as an
 * exception: the token leads to the exception that the user gets.
 */
public final class Door {
    private static final long MINUTES = 10;
    private static final String MARK = "\u0000";
    private static volatile Function python;

    private Door() {}

    /** Sets the function of the Python process: (operation, arguments...) to a result. */
    public static void connect(Function function) { python = function; }

    static Object call(Object[] arguments) {
        return checked(answer(new FutureTask(operation(arguments)), arguments[0]));
    }

    /**
     * Runs an operation that runs jobs of Spark, however long it takes. If this thread is interrupted, the jobs are
     * cancelled, and the interruption is reported when the operation has ended: then nothing more is committed.
     */
    static Object run(Object[] arguments) {
        SparkContext context = ((SparkSession) arguments[1]).sparkContext();
        String tag = "deltaic-" + UUID.randomUUID();
        Properties properties = (Properties) context.getLocalProperties().clone();
        FutureTask task = new FutureTask(new Job(operation(arguments), context, properties, tag));
        Threads.POOL.execute(task);
        boolean isInterrupted = false;
        Object answer = null;
        while (true) {
            try {
                answer = task.get();
                break;
            } catch (InterruptedException error) {
                isInterrupted = true;
                context.cancelJobsWithTag(tag);
            } catch (ExecutionException error) {
                throw new DeltaicError("", arguments[0] + " failed: " + error.getCause());
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new InterruptedIOException(arguments[0] + " was interrupted"));
        }
        return checked(answer);
    }

    private static Operation operation(Object[] arguments) {
        if (python == null) throw new DeltaicError("", "no Python process is connected to this driver");
        return new Operation(python, arguments);
    }

    private static Object checked(Object answer) {
        if (!(answer instanceof String) || !((String) answer).startsWith(MARK)) return answer;
        String text = (String) answer;
        int end = text.indexOf(MARK, 1);
        throw new DeltaicError(text.substring(1, end), text.substring(end + 1));
    }

    private static Object answer(FutureTask task, Object operation) {
        // On another thread: an operation that hangs would hang Spark.
        Threads.POOL.execute(task);
        try {
            return task.get(MINUTES, TimeUnit.MINUTES);
        } catch (InterruptedException error) {
            // Spark knows by this exception that it stopped a stream itself.
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new InterruptedIOException(operation + " was interrupted"));
        } catch (TimeoutException error) {
            throw new DeltaicError("", operation + " did not end in " + MINUTES + " minutes");
        } catch (ExecutionException error) {
            throw new DeltaicError("", operation + " failed: " + error.getCause());
        }
    }
}

/** Threads that ask Python. Each has a connection to Python and a thread there, so few are made. */
final class Threads implements ThreadFactory {
    static final ExecutorService POOL = Executors.newCachedThreadPool(new Threads());

    public Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "deltaic");
        thread.setDaemon(true);
        return thread;
    }
}

/** An operation of a session, which is its second argument. */
final class Operation implements Callable {
    private final Function python;
    private final Object[] arguments;

    Operation(Function python, Object[] arguments) {
        this.python = python;
        this.arguments = arguments;
    }

    public Object call() {
        // The thread may have run an operation of another session.
        SparkSession.setActiveSession((SparkSession) arguments[1]);
        try {
            return python.apply(Arrays.asList(arguments));
        } finally {
            SparkSession.clearActiveSession();
        }
    }
}

/** An operation whose jobs have the properties of the thread that waits for it, such as the group of a stream. */
final class Job implements Callable {
    private final Operation operation;
    private final SparkContext context;
    private final Properties properties;
    private final String tag;

    Job(Operation operation, SparkContext context, Properties properties, String tag) {
        this.operation = operation;
        this.context = context;
        this.properties = properties;
        this.tag = tag;
    }

    public Object call() {
        context.setLocalProperties(properties);
        context.addJobTag(tag);
        try {
            return operation.call();
        } finally {
            context.setLocalProperties(new Properties());
        }
    }
}

/** An error of an operation. */
final class DeltaicError extends RuntimeException {
    private final String token;

    DeltaicError(String token, String text) {
        super(text);
        this.token = token;
    }

    /** Leads to the exception in Python; empty if there is none. */
    public String getToken() { return token; }
}
