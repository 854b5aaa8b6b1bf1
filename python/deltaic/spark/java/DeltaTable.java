package @PACKAGE@;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A version of a Delta table, which SQL names. A rule puts the plan of its rows in its place. */
public final class DeltaTable implements Table, SupportsRead, SupportsMetadataColumns {
    static final String METADATA = "_metadata";
    private final String name;
    private final String path;
    private final Dataset rows;

    DeltaTable(String name, String path, Dataset rows) {
        this.name = name;
        this.path = path;
        this.rows = rows;
    }

    public String name() { return name; }

    public StructType schema() { return rows.schema(); }

    public Set capabilities() { return EnumSet.of(TableCapability.BATCH_READ); }

    public MetadataColumn[] metadataColumns() {
        Attribute found = metadata();
        return found == null ? new MetadataColumn[0] : new MetadataColumn[] {new FileMetadata(found)};
    }

    /** DESCRIBE makes one. No query reads by it, unless the session lacks the rule. */
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) { return new ScanOfName(schema()); }

    /** The plan of the rows, with the metadata of their files if it is wanted. */
    LogicalPlan plan(boolean withMetadata) {
        if (!withMetadata) return plan(rows);
        Object[] columns = {rows.col("*"), rows.metadataColumn(METADATA)};
        return plan(rows.select(Sequences.seq(Arrays.asList(columns))));
    }

    /** The plan of the table as a stream. */
    LogicalPlan stream(CaseInsensitiveStringMap options) {
        DataStreamReader reader = org.apache.spark.sql.SparkSession.active().readStream().format("delta");
        return plan(reader.options(options.asCaseSensitiveMap()).load(path));
    }

    private Attribute metadata() {
        for (Iterator each = Sequences.list(plan(rows).metadataOutput()).iterator(); each.hasNext();) {
            Attribute column = (Attribute) each.next();
            if (column.name().equals(METADATA)) return column;
        }
        return null;
    }

    static LogicalPlan plan(Dataset rows) {
        return ((org.apache.spark.sql.classic.Dataset) rows).queryExecution().analyzed();
    }
}

final class FileMetadata implements MetadataColumn {
    private final Attribute column;

    FileMetadata(Attribute column) { this.column = column; }

    public String name() { return column.name(); }

    public DataType dataType() { return column.dataType(); }

    public boolean isNullable() { return column.nullable(); }
}

final class ScanOfName implements ScanBuilder, Scan {
    private final StructType schema;

    ScanOfName(StructType schema) { this.schema = schema; }

    public Scan build() { return this; }

    public StructType readSchema() { return schema; }
}
