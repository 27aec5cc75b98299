package serde

// Walk visits s and every snapshot below it, parents first, until f gives false.
func Walk(s *Snapshot, f func(*Snapshot) bool) bool {
	if s == nil {
		return true
	}
	if !f(s) {
		return false
	}
	for _, n := range s.Nested {
		if !Walk(n, f) {
			return false
		}
	}
	if s.Pojo == nil {
		return true
	}
	for _, p := range s.Pojo.Fields {
		if !Walk(p.Type, f) {
			return false
		}
	}
	for _, list := range [][]Subclass{s.Pojo.Registered, s.Pojo.NonRegistered} {
		for _, c := range list {
			if !Walk(c.Type, f) {
				return false
			}
		}
	}
	return true
}
