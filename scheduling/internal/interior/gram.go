package interior

import (
	"cmp"
	"slices"
)

// gram sums outer products of vectors with themselves, four at a time, because the Newton steps spend their
// time there. It keeps the lower triangle of the symmetric matrix, row by row.
type gram struct {
	cells   []float64
	vectors [4][]float64
	scales  [4]float64
	waiting int
}

// begin clears the matrix for vectors of n entries.
func (g *gram) begin(n int) {
	cells := n * (n + 1) / 2
	if cap(g.cells) < cells {
		g.cells = make([]float64, cells)
	}
	g.cells = g.cells[:cells]
	clear(g.cells)
	for k := range g.vectors {
		if cap(g.vectors[k]) < n {
			g.vectors[k] = make([]float64, n)
		}
		g.vectors[k] = g.vectors[k][:n]
	}
	g.waiting = 0
}

// next returns the memory of the next vector; add adds that vector with a factor.
func (g *gram) next() []float64 { return g.vectors[g.waiting] }

func (g *gram) add(scale float64) {
	g.scales[g.waiting] = scale
	if g.waiting++; g.waiting == len(g.vectors) {
		g.flush()
	}
}

// flush adds the pending vectors.
func (g *gram) flush() {
	for k := g.waiting; k < len(g.vectors); k++ {
		g.scales[k] = 0
		clear(g.vectors[k])
	}
	g.waiting = 0
	a, b, c, d := g.vectors[0], g.vectors[1], g.vectors[2], g.vectors[3]
	at := 0
	for i := range a {
		row := g.cells[at : at+i+1]
		at += i + 1
		s, t, u, v := g.scales[0]*a[i], g.scales[1]*b[i], g.scales[2]*c[i], g.scales[3]*d[i]
		if s == 0 && t == 0 && u == 0 && v == 0 {
			continue
		}
		w, x, y, z := a[:len(row)], b[:len(row)], c[:len(row)], d[:len(row)]
		for j := range row {
			row[j] += s*w[j] + t*x[j] + u*y[j] + v*z[j]
		}
	}
}

// row returns a row of the matrix up to the diagonal.
func (g *gram) row(i int) []float64 { return g.cells[i*(i+1)/2 : (i+1)*(i+2)/2] }

// similarOrder orders the classes so that classes with the same machines are adjacent.
func (p *Solver) similarOrder() []int {
	order := make([]int, p.classes)
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.CompareFunc(p.pairsOf(a), p.pairsOf(b), comparePairs) })
	return order
}

func (p *Solver) pairsOf(c int) []Pair { return p.Pairs[p.First[c]:p.First[c+1]] }

func comparePairs(a, b Pair) int { return cmp.Compare(a.Machine, b.Machine) }
