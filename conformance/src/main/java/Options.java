import java.util.HashMap;
import java.util.Map;

/** {@code option=value} words of a command. */
class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] words, int from) {
        for (int i = from; i < words.length; i++) {
            int eq = words[i].indexOf('=');
            if (eq < 1) throw new IllegalArgumentException("not option=value: " + words[i]);
            values.put(words[i].substring(0, eq), words[i].substring(eq + 1));
        }
    }

    boolean has(String name) { return values.containsKey(name); }
    String text(String name, String ifAbsent) { return values.getOrDefault(name, ifAbsent); }
    long number(String name, long ifAbsent) { return Long.parseLong(text(name, "" + ifAbsent)); }
    boolean on(String name) { return text(name, "false").equals("true"); }
    void set(String name, String value) { values.put(name, value); }
}
