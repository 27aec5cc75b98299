package model

import (
	"errors"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// SnapshotKind is what the snapshot is: checkpoint, full-checkpoint,
// savepoint-canonical or savepoint-native. kind is "" where the format does not
// record it (before V4, or null properties); guess is then what the handles
// look like, or "".
func (s *Snapshot) SnapshotKind() (kind, guess string) {
	if s.Properties.Kind != "" {
		return s.Properties.Kind, ""
	}
	canonical, absolute, incremental := false, false, false
	// The walk only reads what decoding read before.
	_ = s.Meta.EachStream(func(u metadata.StreamUse) error {
		canonical = canonical || u.Keyed != nil && u.Keyed.Type == metadata.TypeSavepoint
		incremental = incremental || u.Keyed != nil && u.Keyed.Incr != nil
		absolute = absolute || u.Stream.Type == metadata.TypeFile
		return nil
	})
	switch {
	case canonical:
		return "", "savepoint-canonical"
	case incremental && !absolute:
		return "", "savepoint-native"
	}
	return "", "checkpoint"
}

// readProperties reads the properties at the end of V4 and later. A cut inside
// them is damage, as Flink does not read such a file.
func (s *Snapshot) readProperties() {
	if s.Meta.Properties.Len == 0 || s.Meta.Damage != nil {
		return
	}
	p, err := metadata.ReadProperties(s.Meta.In, s.Meta.Properties)
	var damage *decoder.Error
	if errors.As(err, &damage) {
		s.Meta.Damage = damage
	}
	s.Properties = p
}
