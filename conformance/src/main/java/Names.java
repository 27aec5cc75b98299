import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * The state names in a snapshot as Flink's own loader and its readers of stream headers see them, also those that no job registers:
 *
 * <pre>
 *   operator ID p=PARALLELISM coordinator=BYTES in-flight=CHANNELS
 *   offsets ID#SUBTASK NAME MODE elements=N      the offsets map of a managed operator state handle
 *   header ID#SUBTASK operator|keyed NAME        the header of its stream
 *   keyed ID#SUBTASK managed|raw HANDLE CLASS
 * </pre>
 */
class Names {
    private final Set<String> lines = new TreeSet<>();
    private final ClassLoader loader = Names.class.getClassLoader();

    static void write(String snapshot, String file) throws Exception {
        Names names = new Names();
        names.read(Paths.get(snapshot, "_metadata").toAbsolutePath());
        Files.write(Paths.get(file), names.lines);
    }

    private void read(Path file) throws Exception {
        CheckpointMetadata m;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            m = Checkpoints.loadCheckpointMetadata(in, loader, "file:" + file.getParent());
        }
        for (OperatorState op : m.getOperatorStates()) {
            int channels = 0;
            for (Map.Entry<Integer, OperatorSubtaskState> e : op.getSubtaskStates().entrySet()) {
                OperatorSubtaskState s = e.getValue();
                String at = op.getOperatorID() + "#" + e.getKey();
                for (OperatorStateHandle h : s.getManagedOperatorState()) operator(at, h);
                for (KeyedStateHandle h : s.getManagedKeyedState()) keyed(at, "managed", h);
                for (KeyedStateHandle h : s.getRawKeyedState()) keyed(at, "raw", h);
                channels += s.getInputChannelState().size() + s.getResultSubpartitionState().size();
            }
            long coordinator = op.getCoordinatorState() == null ? 0 : op.getCoordinatorState().getStateSize();
            lines.add("operator " + op.getOperatorID() + " p=" + op.getParallelism() + " coordinator=" + coordinator + " in-flight=" + channels);
        }
    }

    private void operator(String at, OperatorStateHandle h) throws Exception {
        for (Map.Entry<String, OperatorStateHandle.StateMetaInfo> e : h.getStateNameToPartitionOffsets().entrySet())
            lines.add("offsets " + at + " " + e.getKey() + " " + e.getValue().getDistributionMode() + " elements=" + e.getValue().getOffsets().length);
        if (h.getStateSize() == 0) return;
        OperatorBackendSerializationProxy proxy = new OperatorBackendSerializationProxy(loader);
        try (InputStream in = h.openInputStream()) { proxy.read(new DataInputViewStreamWrapper(in)); }
        for (StateMetaInfoSnapshot s : proxy.getOperatorStateMetaInfoSnapshots()) lines.add("header " + at + " operator " + s.getName());
        for (StateMetaInfoSnapshot s : proxy.getBroadcastStateMetaInfoSnapshots()) lines.add("header " + at + " operator " + s.getName());
    }

    private void keyed(String at, String which, KeyedStateHandle h) throws Exception {
        lines.add("keyed " + at + " " + which + " " + h.getClass().getSimpleName());
        StreamStateHandle stream = which.equals("raw") ? null : headerOf(h);
        if (stream == null) return;
        KeyedBackendSerializationProxy<?> proxy = new KeyedBackendSerializationProxy<>(loader);
        try (InputStream in = stream.openInputStream()) { proxy.read(new DataInputViewStreamWrapper(in)); }
        for (StateMetaInfoSnapshot s : proxy.getStateMetaInfoSnapshots()) lines.add("header " + at + " keyed " + s.getName());
    }

    /** The stream that begins with the header: the keyed stream itself, or the meta data stream of native RocksDB handles. */
    private static StreamStateHandle headerOf(KeyedStateHandle h) throws ReflectiveOperationException {
        if (h instanceof KeyGroupsStateHandle) return (StreamStateHandle) h;
        for (String getter : new String[] {"getMetaDataStateHandle", "getMetaStateHandle"}) {
            try {
                return (StreamStateHandle) h.getClass().getMethod(getter).invoke(h);
            } catch (NoSuchMethodException e) {
                // named otherwise in this version, or no such handle
            }
        }
        return null;
    }
}
