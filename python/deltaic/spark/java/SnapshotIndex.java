package @PACKAGE@;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/**
 * The files of a snapshot. Spark asks it for those that a query reads, with the query's filters.
 *
 * Each file has a row of values (partition values, ordinal), which Spark treats as partition columns. Spark
 * does not apply filters on these columns again, so they are applied exactly, by Spark's own predicates.
 * Filters on other columns are applied again to each row: files are left out by statistics, which Python has.
 */
public final class SnapshotIndex implements FileIndex {
    private final String key;
    private final String root;
    private final FileList files;
    private final StructType values;
    private final String deleted;
    private final Function python;
    private volatile int listed = -1;

    /**
     * @param key equal for indexes of the same version of the same table with the same files
     * @param root the URI of the table
     * @param path a file with the list of files, see FileList
     * @param values the columns of the values
     * @param deleted how the names of columns begin by which deleted rows are left out; empty if there are none
     * @param python answers questions, see Question
     */
    public SnapshotIndex(
        String key, String root, String path, int files, StructType values, String deleted, Function python
    ) throws Exception {
        this.key = key;
        this.root = root;
        this.files = FileList.read(path, files);
        this.values = values;
        this.deleted = deleted;
        this.python = python;
    }

    public String key() { return key; }

    /** The number of files that the last query read, -1 before. */
    public int listed() { return listed; }

    boolean hasDeletedRows() { return !deleted.isEmpty(); }

    /** Whether a condition is the one by which deleted rows are left out, and no other. */
    boolean leavesOut(Expression condition) {
        Iterator columns = Sequences.list(condition.references().toSeq()).iterator();
        boolean any = false;
        while (columns.hasNext()) {
            if (!((Attribute) columns.next()).name().startsWith(deleted)) return false;
            any = true;
        }
        return any;
    }

    /**
     * Aggregates of the snapshot by the log; null if one is not known, or not all files of the snapshot are here.
     *
     * @param asked a question for each aggregate, as JSON
     * @return the aggregates and their values, as texts
     */
    Map aggregates(Map asked) {
        String question = "{\"aggregates\":[" + String.join(",", new ArrayList(asked.values())) + "]}";
        Object answer = Question.ask(python, question);
        if (!(answer instanceof String)) return null;
        String[] values = ((String) answer).split(",", -1);
        if (values.length != asked.size()) return null;
        Map found = new HashMap();
        int place = 0;
        for (Iterator each = asked.keySet().iterator(); each.hasNext(); place++) {
            found.put(each.next(), values[place].isEmpty() ? null : values[place]);
        }
        return found;
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        boolean[] kept = all();
        Iterator filters = Sequences.list(partitionFilters).iterator();
        while (filters.hasNext()) keepMatching(kept, (Expression) filters.next());
        keepByStatistics(kept, Sequences.list(dataFilters));
        List directories = new ArrayList();
        for (int file = 0; file < kept.length; file++) {
            if (kept[file]) directories.add(directory(file));
        }
        listed = directories.size();
        return Sequences.seq(directories);
    }

    /**
     * What a query with these filters reads: files, of these those left by filters on partition columns, of these
     * those left by statistics, and their bytes. Subqueries leave out files only while a query runs.
     */
    public long[] selection(Seq partitionFilters, Seq dataFilters) {
        boolean[] kept = all();
        long[] found = new long[4];
        found[0] = kept.length;
        Iterator filters = Sequences.list(partitionFilters).iterator();
        while (filters.hasNext()) {
            Expression filter = (Expression) filters.next();
            if (!filter.exists(new IsSubquery())) keepMatching(kept, filter);
        }
        for (int file = 0; file < kept.length; file++) found[1] += kept[file] ? 1 : 0;
        keepByStatistics(kept, Sequences.list(dataFilters));
        for (int file = 0; file < kept.length; file++) {
            found[2] += kept[file] ? 1 : 0;
            found[3] += kept[file] ? files.lengths[file] : 0;
        }
        return found;
    }

    private boolean[] all() {
        boolean[] kept = new boolean[files.uris.length];
        Arrays.fill(kept, true);
        return kept;
    }

    private PartitionDirectory directory(int file) {
        try {
            Object status = new FileStatusWithMetadata(
                files.status(file), (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty());
            return new PartitionDirectory(files.values[file], Sequences.seq(Collections.singletonList(status)));
        } catch (java.net.URISyntaxException error) {
            throw new IllegalArgumentException(error);
        }
    }

    private void keepMatching(boolean[] kept, Expression filter) {
        Expression bound = (Expression) filter.transform(new ToOrdinals(values));
        BasePredicate predicate = Predicate$.MODULE$.createInterpreted(bound);
        for (int file = 0; file < kept.length; file++) {
            if (kept[file]) kept[file] = predicate.eval(files.values[file]);
        }
    }

    private void keepByStatistics(boolean[] kept, List filters) {
        String tree = filters.isEmpty() ? null : FilterTree.of(filters);
        Object answer = tree == null ? null : Question.ask(python, tree);
        if (!(answer instanceof byte[]) || ((byte[]) answer).length != kept.length) return;
        for (int file = 0; file < kept.length; file++) kept[file] &= ((byte[]) answer)[file] != 0;
    }

    public Seq rootPaths() {
        return Sequences.seq(Collections.singletonList(new Path(URI.create(root))));
    }

    public String[] inputFiles() { return (String[]) files.uris.clone(); }

    public void refresh() {}

    public long sizeInBytes() { return files.sizeInBytes(); }

    public StructType partitionSchema() { return values; }

    public scala.Option metadataOpsTimeNs() { return scala.Option.empty(); }

    /** Since Spark 4.3: not by Spark's own options. */
    public boolean isTimeTravel() { return false; }

    public boolean equals(Object other) {
        return other instanceof SnapshotIndex && ((SnapshotIndex) other).key.equals(key);
    }

    public int hashCode() { return key.hashCode(); }

    public String toString() { return "deltaic(" + root + ")"; }
}

/** Replaces the columns of values by their positions. */
final class ToOrdinals extends scala.runtime.AbstractPartialFunction {
    private final StructType values;

    ToOrdinals(StructType values) { this.values = values; }

    public boolean isDefinedAt(Object node) { return node instanceof Attribute; }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        Attribute column = (Attribute) node;
        return new BoundReference(values.fieldIndex(column.name()), column.dataType(), true);
    }
}

final class IsSubquery extends scala.runtime.AbstractFunction1 {
    public Object apply(Object node) { return Boolean.valueOf(node instanceof PlanExpression); }
}

final class Sequences {
    static Seq seq(List list) {
        return scala.jdk.javaapi.CollectionConverters.asScala(list).toSeq();
    }

    static List list(scala.collection.Seq seq) {
        return scala.jdk.javaapi.CollectionConverters.asJava(seq);
    }
}
