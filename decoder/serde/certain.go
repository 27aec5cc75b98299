package serde

// Certain tells whether the end of every value of type t is known, whatever is
// in it. Values of Kryo and Java, and POJO of subclasses that the snapshot does
// not have, may hold what nothing tells the end of.
func Certain(t *Snapshot) bool { return codecOf(t).certain() }

func (c *codec) certain() bool {
	if c.kind == Unknown || c.kind == Kryo || c.kind == JavaObject || c.kind == Pojo {
		return false
	}
	for _, k := range c.kids {
		if !k.certain() {
			return false
		}
	}
	return true
}
