package @PACKAGE@;

/** The same format with the name "delta", if no jar of the JVM has it. */
public final class DeltaFormatProvider extends FormatProvider {
    public String shortName() { return "delta"; }
}
