package @PACKAGE@;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.types.StructType;

/** A table that a stream is written to: each batch in one commit, which records the query and the number of the batch. */
final class TableSink implements Sink {
    private static final String QUERY = "sql.streaming.queryId";
    private final SparkSession session;
    private final Map options;
    private final List partitionColumns;
    private final String mode;

    TableSink(SparkSession session, Map options, List partitionColumns, String mode) {
        this.session = session;
        this.options = options;
        this.partitionColumns = partitionColumns;
        this.mode = mode;
        Door.call(new Object[] {"sink_check", session, mode, Options.json(options)});
    }

    public void addBatch(long batch, Dataset data) {
        org.apache.spark.sql.classic.Dataset rows = (org.apache.spark.sql.classic.Dataset) data;
        SparkSession own = (SparkSession) rows.sparkSession();
        // The plan of a batch is that of a stream, on which no further operation is allowed.
        Dataset plain = own.internalCreateDataFrame(rows.queryExecution().toRdd(), rows.schema(), false);
        String query = own.sparkContext().getLocalProperty(QUERY);
        Door.run(new Object[] {
            "sink_batch", own, query, Long.valueOf(batch), mode, Options.json(options), partitionColumns, plain});
    }

    public String name() { return "deltaic"; }

    public StructType schema() { return new StructType(); }

    public Set capabilities() { return new HashSet(); }

    public String toString() { return "deltaic[" + options.get("path") + "]"; }
}
