import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Directories with all that is in them. */
class Trees {
    static void copy(Path from, Path to) throws IOException {
        for (Path p : list(from)) {
            Path q = to.resolve(from.relativize(p).toString());
            if (Files.isDirectory(p)) Files.createDirectories(q);
            else Files.copy(p, q);
        }
    }

    static void delete(Path dir) throws IOException {
        if (!Files.exists(dir)) return;
        List<Path> all = list(dir);
        all.sort(Comparator.reverseOrder());
        for (Path p : all) Files.delete(p);
    }

    private static List<Path> list(Path dir) throws IOException {
        try (Stream<Path> all = Files.walk(dir)) {
            return all.sorted().collect(Collectors.toList());
        }
    }
}
