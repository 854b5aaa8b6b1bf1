package @PACKAGE@;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedDataSource;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;

/**
 * Reads format("delta") and format("deltaic") natively. What Python answers with null is left as it is: the data source
 * in Python reads it, or reports what is wrong.
 */
final class FormatRule extends Rule {
    public TreeNode apply(TreeNode plan) { return ((LogicalPlan) plan).resolveOperatorsDown(new Formats()); }
}

final class Formats extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        if (!(node instanceof UnresolvedDataSource)) return false;
        UnresolvedDataSource asked = (UnresolvedDataSource) node;
        return DeltaCatalog.isDelta(asked.format()) && asked.userSpecifiedSchema().isEmpty();
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        UnresolvedDataSource asked = (UnresolvedDataSource) node;
        List paths = new ArrayList(Sequences.list(asked.paths()));
        TreeMap options = new TreeMap(Options.ofScala(asked.options()));
        if (paths.size() > 1 || (paths.size() == 1 && asked.options().contains("path"))) return node;
        if (paths.size() == 1) options.put("path", paths.get(0));
        SparkSession session = (SparkSession) org.apache.spark.sql.SparkSession.active();
        String operation = asked.isStreaming() ? "stream_schema" : "read";
        Object answer = Door.call(new Object[] {operation, session, Options.json(options)});
        if (answer == null) return node;
        if (answer instanceof Dataset) return DeltaTable.plan((Dataset) answer);
        return new UnresolvedDataSource(
            StreamProvider.class.getName(), scala.Option.apply(DataType.fromJson((String) answer)), asked.options(),
            true, asked.paths());
    }
}
