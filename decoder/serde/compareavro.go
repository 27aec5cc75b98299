package serde

import (
	"maps"
	"slices"

	"chkscope/decoder"
)

// avro is AvroSerializerSnapshot: equal schemas as is; those that Avro's
// SchemaCompatibility lets read what the old one wrote after migration.
func (c *comparer) avro(path string, old, next *Snapshot) Compatibility {
	const rule = "AvroSerializerSnapshot"
	if old.Schema == next.Schema {
		return CompatibleAsIs
	}
	was, err1 := parseAvro(decoder.Text(old.Schema))
	is, err2 := parseAvro(decoder.Text(next.Schema))
	if err1 != nil || err2 != nil {
		return c.is(Undecided, path, rule, "a schema cannot be read")
	}
	a := avroComparer{c: c, seen: map[[2]*avroType]bool{}, steps: new(int)}
	if a.same(is, was) {
		return CompatibleAsIs
	}
	clear(a.seen)
	readable := a.readable(path, is, was)
	if *a.steps > maxAvroSteps {
		return c.is(Undecided, path, rule, "the Avro schemas are too large to compare")
	}
	if readable {
		return c.is(CompatibleAfterMigration, path, rule, "the Avro schema is another, which can read the old one's values")
	}
	return Incompatible
}

// maxAvroSteps bounds the comparison of unions in one another.
const maxAvroSteps = 100_000

type avroComparer struct {
	c     *comparer
	seen  map[[2]*avroType]bool // pairs that are compared or were
	steps *int
}

// same is Schema.equals without what does not change how values look like.
func (a *avroComparer) same(r, w *avroType) bool {
	pair := [2]*avroType{r, w}
	if a.seen[pair] {
		return true
	}
	a.seen[pair] = true
	if r.kind != w.kind || r.logical != w.logical || r.size != w.size || r.scale != w.scale || len(r.kids) != len(w.kids) ||
		!slices.Equal(r.symbols, w.symbols) || (r.shape == nil) != (w.shape == nil) {
		return false
	}
	if r.shape != nil && (r.shape.Type != w.shape.Type || !slices.Equal(r.shape.Names, w.shape.Names) || !slices.Equal(r.defaults, w.defaults)) {
		return false
	}
	for i := range r.kids {
		if !a.same(r.kids[i], w.kids[i]) {
			return false
		}
	}
	return true
}

// promotions are what a reader's type reads beside its own.
var promotions = map[string][]string{"long": {"int"}, "float": {"int", "long"}, "double": {"int", "long", "float"}, "string": {"bytes"}, "bytes": {"string"}}

// readable says whether r reads what w wrote (SchemaCompatibility); where it does
// not, it notes why.
func (a *avroComparer) readable(path string, r, w *avroType) bool {
	pair := [2]*avroType{r, w}
	if *a.steps++; a.seen[pair] || *a.steps > maxAvroSteps {
		return true
	}
	a.seen[pair] = true
	switch {
	case w.kind == "union":
		for _, branch := range w.kids {
			if !a.readable(path, r, branch) {
				return false
			}
		}
		return true
	case r.kind == "union":
		for _, branch := range r.kids {
			// What a branch that fails took for granted does not count.
			try := avroComparer{&comparer{}, maps.Clone(a.seen), a.steps}
			if try.readable(path, branch, w) {
				return true
			}
		}
		return a.no(path, "no type of %s reads %s", r, w)
	case r.kind != w.kind:
		return slices.Contains(promotions[r.kind], w.kind) || a.no(path, "%s was %s", r, w)
	}
	switch r.kind {
	case "array", "map":
		return a.readable(join(path, "element"), r.kids[0], w.kids[0])
	case "enum":
		for _, s := range w.symbols {
			if !slices.Contains(r.symbols, s) && !r.enumDefault {
				return a.no(path, "%s has no symbol %s", r.shape.Type, s)
			}
		}
		return a.named(path, r, w)
	case "fixed":
		return a.named(path, r, w) && (r.size == w.size || a.no(path, "%s has %d bytes, not %d", r.shape.Type, r.size, w.size))
	case "record":
		return a.named(path, r, w) && a.fields(path, r, w)
	}
	return true
}

// no notes why a schema cannot read another; it gives false.
func (a *avroComparer) no(path, format string, args ...any) bool {
	a.c.is(Incompatible, path, "AvroSerializerSnapshot", format, args...)
	return false
}

func (a *avroComparer) named(path string, r, w *avroType) bool {
	short := func(t *avroType) string { return ShortClass(t.shape.Type) }
	return short(r) == short(w) || slices.Contains(r.aliases, w.shape.Type) || slices.Contains(r.aliases, short(w)) ||
		a.no(path, "%s was %s", r.shape.Type, w.shape.Type)
}

func (a *avroComparer) fields(path string, r, w *avroType) bool {
	for i, name := range r.shape.Names {
		k := slices.Index(w.shape.Names, name)
		for _, alias := range r.fieldAliases[i] {
			if k < 0 {
				k = slices.Index(w.shape.Names, alias)
			}
		}
		if k < 0 && r.defaults[i] == "" {
			return a.no(join(path, name), "new field without a default value")
		}
		if k >= 0 && !a.readable(join(path, name), r.kids[i], w.kids[k]) {
			return false
		}
	}
	return true
}
