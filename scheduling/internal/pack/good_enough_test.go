package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// keptApart is a problem in which every pod of some classes wants a machine without others
// of its class, beside many that may sit anywhere.
func keptApart(n int) *model.Problem {
	p := logNormal(n, n/4)
	for c := 0; c < len(p.Classes); c += 3 {
		p.Classes[c].PerNode = 1
		p.Classes[c].Count += int64(n / 40)
	}
	return p
}

// A search that may be content ends with the first answer that is no dearer than that,
// with far less work than one that may not.
func TestContent(t *testing.T) {
	p := keptApart(1200)
	for _, work := range []int64{0, 2_000_000} {
		all := Search(p, Params{Work: work})
		best := p.Cost(all.Solution.Nodes)
		enough := best * 3 / 2
		out := Search(p, Params{Work: work, Enough: enough})
		assert.LessOrEqual(t, p.Cost(out.Solution.Nodes), enough)
		assert.LessOrEqual(t, out.Work, all.Work, "work %d", work)
		require.NoError(t, check(p, out.Solution))
		assert.Equal(t, all, Search(p, Params{Work: work, Enough: best / 2}), "nothing is that cheap")
	}
}

// Where pods are left out, or nobody is crowded, no answer will do.
func TestNeverContent(t *testing.T) {
	const dear = 1 << 60
	free, full := logNormal(1200, 300), keptApart(1200)
	full.Classes[0].Request = []int64{1 << 40, 1, 1}
	for name, p := range map[string]*model.Problem{"nobody is crowded": free, "one pod fits nowhere": full} {
		assert.Equal(t, Search(p, Params{}), Search(p, Params{Enough: dear}), name)
	}
}
