package @PACKAGE@;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.internal.SQLConf;

/** The rules of enabled sessions. */
public final class Extensions {
    private Extensions() {}

    public static void inject(SparkSessionExtensions extensions) {
        extensions.injectHintResolutionRule(new RuleOfSession(new PathRule()));
        extensions.injectHintResolutionRule(new RuleOfSession(new FormatRule()));
        extensions.injectPostHocResolutionRule(new RuleOfSession(new ReadRule()));
    }

    /**
     * Whether the active session is enabled. Sessions share their extensions, so that one whose first query comes later
     * has the rules too.
     */
    static boolean areOn() {
        return DeltaCatalog.class.getName().equals(SQLConf.get().getConfString("spark.sql.catalog.spark_catalog", ""));
    }
}

final class RuleOfSession extends scala.runtime.AbstractFunction1 {
    private final Rule rule;

    RuleOfSession(Rule rule) { this.rule = rule; }

    public Object apply(Object session) { return new EnabledRule(rule); }
}

/** A rule of enabled sessions. */
final class EnabledRule extends Rule {
    private final Rule rule;

    EnabledRule(Rule rule) { this.rule = rule; }

    public TreeNode apply(TreeNode plan) { return Extensions.areOn() ? rule.apply(plan) : plan; }

    public String ruleName() { return rule.ruleName(); }
}
