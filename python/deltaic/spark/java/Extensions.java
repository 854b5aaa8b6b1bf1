package @PACKAGE@;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.rules.Rule;

/** The rules of an enabled session. */
public final class Extensions {
    private Extensions() {}

    public static void inject(SparkSessionExtensions extensions) {
        extensions.injectHintResolutionRule(new RuleOfSession(new PathRule()));
        extensions.injectPostHocResolutionRule(new RuleOfSession(new ReadRule()));
    }
}

final class RuleOfSession extends scala.runtime.AbstractFunction1 {
    private final Rule rule;

    RuleOfSession(Rule rule) { this.rule = rule; }

    public Object apply(Object session) { return rule; }
}
