package @PACKAGE@;

import java.util.UUID;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.Offset;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.types.StructType;

/** A table as a stream: Python says how far it goes, and which files are between two offsets. */
final class StreamSource implements Source, SupportsAdmissionControl, SupportsTriggerAvailableNow {
    private final SparkSession session;
    private final StructType schema;
    private final String path;
    private final String key = UUID.randomUUID().toString();

    StreamSource(SparkSession session, String path, StructType schema, String options) {
        this.session = session;
        this.path = path;
        this.schema = schema;
        Door.call(new Object[] {"stream_open", session, key, options, schema.json()});
    }

    public StructType schema() { return schema; }

    public scala.Option getOffset() { throw new UnsupportedOperationException("latestOffset is asked instead"); }

    public ReadLimit getDefaultReadLimit() {
        long most = ((Number) ask("stream_most", null)).longValue();
        return most > 0
            ? ReadLimit.maxFiles((int) Math.min(most, Integer.MAX_VALUE)) : ReadLimit.maxBytes(-most);
    }

    public void prepareForTriggerAvailableNow() { ask("stream_stop_at_newest", null); }

    public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
        org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit
    ) {
        String from = start == null ? null : start.json();
        Boolean everything = Boolean.valueOf(limit instanceof ReadAllAvailable);
        return offset(Door.call(new Object[] {"stream_latest", session, key, from, everything}));
    }

    public org.apache.spark.sql.connector.read.streaming.Offset reportLatestOffset() {
        return offset(ask("stream_newest", null));
    }

    public Dataset getBatch(scala.Option start, Offset end) {
        String from = start.isEmpty() ? null : ((Offset) start.get()).json();
        Object rows = Door.call(new Object[] {"stream_batch", session, key, from, end.json()});
        LogicalPlan plan = (LogicalPlan) DeltaTable.plan((Dataset) rows).transformUp(new AsStream());
        if (plan.isStreaming()) return org.apache.spark.sql.classic.Dataset.ofRows(session, plan);
        org.apache.spark.sql.classic.Dataset failing = (org.apache.spark.sql.classic.Dataset) rows;
        return session.internalCreateDataFrame(failing.queryExecution().toRdd(), schema, true);
    }

    public void commit(Offset end) { ask("stream_commit", end.json()); }

    public void stop() { ask("stream_close", null); }

    public String toString() { return "deltaic[" + path + "]"; }

    private Object ask(String operation, String about) {
        return Door.call(about == null
            ? new Object[] {operation, session, key} : new Object[] {operation, session, key, about});
    }

    private static StreamOffset offset(Object json) { return json == null ? null : new StreamOffset((String) json); }
}

final class StreamOffset extends Offset {
    private final String json;

    StreamOffset(String json) { this.json = json; }

    public String json() { return json; }
}

/** Marks the files of a plan as those of a stream. */
final class AsStream extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        return node instanceof LogicalRelation && !((LogicalRelation) node).isStreaming();
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        LogicalRelation files = (LogicalRelation) node;
        return new LogicalRelation(files.relation(), files.output(), files.catalogTable(), true, files.stream());
    }
}
