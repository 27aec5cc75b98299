package storage

// readAhead watches where an object is read and says what will be read next.
// It knows two patterns: sequential reads, and runs of reads whose starts are
// a repeating sequence of distances apart (one array of a subtask after the
// other, with one or a few sizes).
type readAhead struct {
	size   int64 // of the object
	budget int64 // most bytes asked for at once

	runStart, runEnd int64 // of the current run of sequential reads
	asked            int64 // sequential: read ahead up to here
	longest          int64 // length of the longest recent run
	jumps            []int64
	depth            int // how many jumps to predict
	frontier         int // jumps predicted and not yet made
	tailAsked        bool
}

// span is the bytes from (included) to to (not included).
type span struct{ from, to int64 }

const (
	jumpsKept   = 16
	longestGap  = 4 << 10 // what is left out within one run
	firstDepth  = 4
	deepest     = 64
	aheadBegins = 96 << 10 // more than Open has read; length of a run from which on it is taken for sequential
	surely      = 3        // jumps that are alike before they are taken for one of many
	tail        = 64 << 10 // the end of the object, where who steps over arrays arrives
)

func newReadAhead(size, budget int64) *readAhead {
	return &readAhead{size: size, budget: budget, depth: firstDepth}
}

// observe is told a read and gives what to fetch now, in order.
func (a *readAhead) observe(off, n int64) []span {
	end := off + n
	switch {
	case off >= a.runStart && off <= a.runEnd+longestGap:
		a.runEnd = max(a.runEnd, end)
		a.longest = max(a.longest, a.runEnd-a.runStart)
		return a.sequential()
	case off < a.runStart:
		*a = readAhead{size: a.size, budget: a.budget, runStart: off, runEnd: end, depth: firstDepth, tailAsked: a.tailAsked}
		return nil
	}
	jump := off - a.runStart
	predicted, spread := a.predict(1)
	if len(a.jumps) == 0 || len(predicted) == 0 || abs(predicted[0]-jump) > spread {
		a.depth, a.frontier = firstDepth, 0
	}
	a.frontier = max(a.frontier-1, 0)
	a.jumps = append(a.jumps, jump)
	if len(a.jumps) > jumpsKept {
		a.jumps = a.jumps[1:]
	}
	a.runStart, a.runEnd, a.asked = off, end, 0
	a.longest = max(n, min(a.longest, aheadBegins))
	all := a.strided()
	if !a.tailAsked && len(all) > 0 {
		a.tailAsked = true
		all = append(all, span{max(a.size-tail, end), a.size})
	}
	return all
}

// sequential reads ahead as much as was read already, up to the budget, and
// asks again when half of that is used up.
func (a *readAhead) sequential() []span {
	length := a.runEnd - a.runStart
	if length < aheadBegins {
		return nil
	}
	window := min(length, a.budget)
	if a.asked-a.runEnd > window/2 {
		return nil
	}
	s := span{max(a.asked, a.runEnd), min(a.runEnd+window, a.size)}
	if s.from >= s.to {
		return nil
	}
	a.asked = s.to
	return []span{s}
}

// strided asks for the runs behind the next jumps: twice as many each time the
// prediction held, and all that may be asked for where it holds surely.
func (a *readAhead) strided() []span {
	if a.frontier > a.depth/2 {
		return nil
	}
	jumps, spread := a.predict(deepest)
	if len(a.jumps) >= surely && spread <= longestGap/4 {
		a.depth = deepest
	}
	jumps = jumps[:min(a.depth, len(jumps))]
	a.depth = min(a.depth*2, deepest)
	var (
		all    []span
		at     = a.runStart
		slack  int64
		bytes  int64
		budget = a.budget
	)
	if spread > a.longest && len(a.jumps) < jumpsKept/2 {
		budget /= 8 // a pattern may show yet: do not guess dearly
	}
	for i, j := range jumps {
		at, slack = at+j, slack+spread
		s := span{max(at-slack, a.runEnd), min(at+slack+a.longest, a.size)}
		if i < a.frontier {
			continue
		}
		if s.from >= s.to || bytes+s.to-s.from > budget || i >= firstDepth && spread < a.longest && slack > 4*a.longest {
			break // what is left is too far off to aim at
		}
		bytes += s.to - s.from
		all = append(all, s)
		a.frontier = i + 1
	}
	return all
}

// predict gives the next n jumps and how far each may be off: the shortest
// period of up to four jumps that repeats nearly, else the mean of the last ones.
func (a *readAhead) predict(n int) (jumps []int64, spread int64) {
	have := len(a.jumps)
	if have == 0 {
		return nil, 0
	}
	for period := 1; period <= 4 && (period == 1 && have == 1 || 2*period <= have); period++ {
		spread, near := int64(0), true
		for i := max(period, have-2*period); i < have; i++ {
			d := abs(a.jumps[i] - a.jumps[i-period])
			spread = max(spread, d)
			near = near && d <= a.jumps[i]/8
		}
		if near {
			for i := range n {
				jumps = append(jumps, a.jumps[have-period+i%period])
			}
			return jumps, spread
		}
	}
	low, high := a.jumps[have-1], a.jumps[have-1]
	for _, j := range a.jumps {
		low, high = min(low, j), max(high, j)
	}
	for range n {
		jumps = append(jumps, (low+high)/2)
	}
	return jumps, (high - low + 1) / 2
}

func abs(n int64) int64 { return max(n, -n) }
