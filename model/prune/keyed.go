package prune

import (
	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// tieKeyedNames refuses named keyed states that cannot be taken out of the
// streams that hold them.
func (w *work) tieKeyedNames(bad *refusals) {
	for op, names := range w.removal.named {
		for name := range names {
			g := model.StateTarget(w.removal.src.Operators[op].ID, model.KindKeyed, name)
			w.removal.eachSubtask(op, -1, func(_ place, s *metadata.SubtaskState) bool {
				if s.ManagedKeyed != nil {
					if rule, why := keyedNameRefusal(s.ManagedKeyed); why != "" {
						bad.add(rule, g.Selector(), decoder.Text(name)+": "+why, "")
					}
				}
				return false
			})
		}
	}
}

// keyedNameRefusal tells why a named state inside a keyed handle cannot go, as
// far as the handle's type tells.
func keyedNameRefusal(h *metadata.KeyedHandle) (rule, why string) {
	switch {
	case h.Incr != nil:
		return "rocksdb-name", "a named state inside RocksDB's files cannot go alone; drop the operator's keyed state as a whole"
	case h.Changelog != nil, h.Inline != nil, h.Files != nil:
		return "changelog-name", "a named state inside changelog handles cannot go alone: base snapshot and changes belong together; drop the operator's keyed state as a whole"
	}
	return "", ""
}
