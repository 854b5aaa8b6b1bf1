package @PACKAGE@;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Asks Python which files can have rows that match filters. */
final class Pruning {
    private static final long SECONDS = 60;

    /** One byte for each file, 0 for those without such rows; null if nothing is known, also after an error. */
    static byte[] ask(Function pruner, List filters) {
        if (pruner == null || filters.isEmpty()) return null;
        String tree = FilterTree.of(filters);
        if (tree == null) return null;
        // On a thread of its own: a callback that hangs would hang the query.
        FutureTask task = new FutureTask(new Question(pruner, tree));
        Thread thread = new Thread(task, "deltaic-pruning");
        thread.setDaemon(true);
        thread.start();
        try {
            return (byte[]) task.get(SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return null;
        } catch (Exception error) {
            return null;
        }
    }
}

final class Question implements java.util.concurrent.Callable {
    private final Function pruner;
    private final String tree;

    Question(Function pruner, String tree) {
        this.pruner = pruner;
        this.tree = tree;
    }

    public Object call() { return pruner.apply(tree); }
}
