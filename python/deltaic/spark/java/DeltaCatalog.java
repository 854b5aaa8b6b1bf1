package @PACKAGE@;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;

/** The session's catalog, in which Delta tables are read: those that names point to, and those of delta.`path`. */
public final class DeltaCatalog extends DelegatingCatalogExtension {
    static boolean isDelta(String name) {
        return "delta".equalsIgnoreCase(name) || "deltaic".equalsIgnoreCase(name);
    }

    /** Whether a name is a path in a schema "delta"; tables of such a schema have names without slashes. */
    static boolean isPath(String schema, String name) {
        return isDelta(schema) && (name.indexOf('/') >= 0 || name.indexOf(':') >= 0);
    }

    private static boolean isPath(Identifier name) {
        return name.namespace().length == 1 && isPath(name.namespace()[0], name.name());
    }

    public Table loadTable(Identifier name) throws NoSuchTableException { return load(name, null, null); }

    public Table loadTable(Identifier name, String version) throws NoSuchTableException {
        return load(name, version, null);
    }

    public Table loadTable(Identifier name, long microseconds) throws NoSuchTableException {
        return load(name, null, Long.valueOf(microseconds));
    }

    public boolean tableExists(Identifier name) {
        if (!isPath(name)) return super.tableExists(name);
        return Boolean.TRUE.equals(Door.call(new Object[] {"exists", org.apache.spark.sql.SparkSession.active(), name.name()}));
    }

    public boolean dropTable(Identifier name) {
        if (isPath(name)) throw readsOnly(name);
        return super.dropTable(name);
    }

    public boolean purgeTable(Identifier name) {
        if (isPath(name)) throw readsOnly(name);
        return super.purgeTable(name);
    }

    static UnsupportedOperationException readsOnly(Object name) {
        return new UnsupportedOperationException(
            "deltaic reads " + name + " in SQL, and does not create or change tables there yet: use deltaic.Table");
    }

    private Table load(Identifier name, String version, Long microseconds) throws NoSuchTableException {
        if (isPath(name)) return read(name, name.name(), version, microseconds);
        Table table = super.loadTable(name);
        if (table instanceof V1Table) {
            CatalogTable entry = ((V1Table) table).v1Table();
            if (entry.provider().isDefined() && isDelta((String) entry.provider().get())) {
                return read(name, entry.location().toString(), version, microseconds);
            }
        }
        if (version != null) return super.loadTable(name, version);
        return microseconds == null ? table : super.loadTable(name, microseconds.longValue());
    }

    private static Table read(Identifier name, String path, String version, Long microseconds)
            throws NoSuchTableException {
        Object[] question = {"load", org.apache.spark.sql.SparkSession.active(), path, version, microseconds};
        Object rows = Door.call(question);
        if (rows == null) throw new NoSuchTableException(name);
        return new DeltaTable(name.toString(), path, (Dataset) rows);
    }
}
