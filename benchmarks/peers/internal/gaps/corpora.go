package gaps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/chart"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// share is how far one planner is above the bound on the instances of one corpus.
type share struct {
	// over are the quotients of price and bound where the planner places as many pods
	// as any, sorted; asked is the number of instances that it solved.
	over  []float64
	asked int
}

// median is 0 where there is none.
func (s *share) median() float64 {
	if len(s.over) == 0 {
		return 0
	}
	return (s.over[(len(s.over)-1)/2] + s.over[len(s.over)/2]) / 2
}

// grid is what the instances of a corpus say of every planner.
type grid struct {
	corpora, planners []string
	shares            map[[2]string]*share
}

func newGrid(findings []*Finding) *grid {
	g := &grid{shares: map[[2]string]*share{}}
	for _, f := range findings {
		corpus := f.Instance.Corpus
		if !slices.Contains(g.corpora, corpus) {
			g.corpora = append(g.corpora, corpus)
		}
		all := slices.Concat(f.Ours, f.Others)
		placed, bound := best(all)
		for _, r := range all {
			if !slices.Contains(g.planners, r.Peer) {
				g.planners = append(g.planners, r.Peer)
			}
			s := g.at(corpus, r.Peer)
			s.asked++
			if r.Placed == placed && bound > 0 {
				s.over = append(s.over, r.Price.USD()/bound.USD())
				slices.Sort(s.over)
			}
		}
	}
	return g
}

// best is the most pods that any planner places, and the highest bound that one proves
// for as many.
func best(results []peer.Result) (placed int, bound offerings.Price) {
	for _, r := range results {
		placed = max(placed, r.Placed)
	}
	for _, r := range results {
		if r.Placed == placed {
			bound = max(bound, r.Bound)
		}
	}
	return placed, bound
}

func (g *grid) at(corpus, planner string) *share {
	key := [2]string{corpus, planner}
	if g.shares[key] == nil {
		g.shares[key] = &share{}
	}
	return g.shares[key]
}

// Corpora writes, for each corpus and planner, price ÷ the best bound that is proven: the
// median over the instances of the corpus on which the planner places as many pods as any.
func Corpora(b *strings.Builder, findings []*Finding) {
	g := newGrid(findings)
	columns := []string{"corpus"}
	for _, p := range g.planners {
		columns = append(columns, p+":")
	}
	b.WriteString(table.Head(columns...))
	for _, c := range g.corpora {
		cells := []any{c}
		for _, p := range g.planners {
			s := g.at(c, p)
			switch {
			case len(s.over) == 0 && s.asked > 0:
				cells = append(cells, "fewer pods")
			case len(s.over) < s.asked:
				cells = append(cells, fmt.Sprintf("%.3f (on %d of %d)", s.median(), len(s.over), s.asked))
			default:
				cells = append(cells, table.Number(s.median(), 3, ""))
			}
		}
		b.WriteString(table.Line(cells...))
	}
}

// Plot is price ÷ bound by corpus and planner.
func Plot(findings []*Finding) chart.Dots {
	g := newGrid(findings)
	d := chart.Dots{
		Name: "gap", Title: "price ÷ lower bound, the median of each corpus", X: "price ÷ lower bound (1.6 stands for more, too)",
		From: 1, To: 1.6, Categories: g.corpora,
	}
	for _, p := range g.planners {
		s := chart.DotSeries{Name: p}
		for row, c := range g.corpora {
			if x := g.at(c, p).median(); x > 0 {
				s.Points = append(s.Points, chart.Point{X: x, Y: float64(row)})
			}
		}
		d.Series = append(d.Series, s)
	}
	return d
}
