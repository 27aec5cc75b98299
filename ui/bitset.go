package ui

import (
	"iter"
	"math/bits"
	"slices"

	"chkscope/model"
)

// bitset is a set of nodes: a bit each, cheap to copy for a build that runs
// beside the keys.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(n model.Node) bool {
	i := int(n >> 6)
	return i < len(b) && b[i]&(1<<(n&63)) != 0
}

func (b bitset) set(n model.Node)   { b[n>>6] |= 1 << (n & 63) }
func (b bitset) clear(n model.Node) { b[n>>6] &^= 1 << (n & 63) }
func (b bitset) clone() bitset      { return slices.Clone(b) }

func (b bitset) all() iter.Seq[model.Node] {
	return func(yield func(model.Node) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(model.Node(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
