import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a restored job found, told by its operators while it runs in a MiniCluster of this JVM. One fact a line:
 *
 * <pre>
 *   keyed UID key=K STATE=V           STATE[USERKEY]=V of a map, STATE@NAMESPACE=V under a namespace
 *   keys UID#SUBTASK STATE=N          number of keys of the state in that subtask
 *   timer UID event|processing key=K at=MILLIS
 *   list UID#SUBTASK STATE=ELEMENT
 *   union UID STATE=ELEMENT           and union UID#SUBTASK STATE count=N
 *   broadcast UID#SUBTASK STATE[KEY]=V
 *   source UID first=N                the next number a source subtask would give
 *   inflight UID RECORD               what was in flight before that operator
 *   restored UID#SUBTASK BOOLEAN names [NAMES]   names registered from the restored stream's header
 * </pre>
 */
class Facts {
    private static volatile boolean on;
    private static final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    private static final Set<String> expected = ConcurrentHashMap.newKeySet(), sources = ConcurrentHashMap.newKeySet(), done = ConcurrentHashMap.newKeySet();
    private static volatile long lastSaid;

    static void start() {
        lines.clear();
        expected.clear();
        sources.clear();
        done.clear();
        lastSaid = System.currentTimeMillis();
        on = true;
    }

    static void stop() { on = false; }

    /** The running job tells facts and takes nothing in; otherwise it makes state. */
    static boolean on() { return on; }

    /** These subtasks will tell facts. */
    static void expect(String uid, int parallelism) { for (int i = 0; i < parallelism; i++) expected.add(uid + "#" + i); }

    /** These will too, if they get a split: a source at another parallelism, or one that is finished, may have nothing to tell. */
    static void expectSource(String uid, int parallelism) { for (int i = 0; i < parallelism; i++) sources.add(uid + "#" + i); }

    static void say(String line) {
        lines.add(line.replace("\n", "\\n"));
        lastSaid = System.currentTimeMillis();
    }

    static void done(String uid, int subtask) {
        done.add(uid + "#" + subtask);
        lastSaid = System.currentTimeMillis();
    }

    /** All have told what they know, and nothing was said for so many milliseconds. */
    static boolean complete(long quietMillis) {
        long quiet = System.currentTimeMillis() - lastSaid;
        return done.containsAll(expected) && quiet > (done.containsAll(sources) ? quietMillis : Math.max(quietMillis, 2500));
    }

    static Set<String> missing() {
        Set<String> m = new TreeSet<>(expected);
        m.removeAll(done);
        return m;
    }

    /** Sorted, duplicates kept. */
    static List<String> sorted() {
        List<String> l;
        synchronized (lines) { l = new ArrayList<>(lines); }
        Collections.sort(l);
        return l;
    }
}
