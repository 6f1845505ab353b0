package covering

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
)

const (
	// tolerance is how far a column must be from balance before it enters the
	// basis. All costs are 1, so it is relative.
	tolerance = 1e-11
	// pivotFloor is the smallest number that is divided by.
	pivotFloor = 1e-10
	// refreshEvery bounds how many updates of the inverse accumulate rounding.
	refreshEvery = 40
	// stallLimit is the number of pivots without progress after which Bland's
	// rule, which cannot cycle, takes over.
	stallLimit = 30
	// singular is below what is divided by to invert a basis.
	singular = 1e-300
)

// covering is the linear program
//
//	min Σ x   subject to   Σ x_j a_j + Σ s_d e_d ≥ b,   0 ≤ x_j ≤ upper_j,   s ≥ 0
//
// with all entries of a and b ≥ 0. The stand-ins s, at cost 1 each, make a first
// basis; the caller scales the rows so that they are never cheaper than the best
// column for their row.
type covering struct {
	rows int
	// a holds the columns one after the other.
	a []float64
	// upper bounds the last len(upper) columns; the others are unbounded.
	upper []float64
	b     []float64
}

// columns is the number of columns in a.
func (c *covering) columns() int { return len(c.a) / c.rows }

// Basis entries are column numbers, or stand-in and surplus variables of a row.
func (c *covering) standIn(row int) int { return c.columns() + row }
func (c *covering) surplus(row int) int { return c.columns() + c.rows + row }

// simplex is the state of the revised simplex method with bounded variables.
type simplex struct {
	*covering
	basis   []int
	inBasis []bool
	atUpper []bool      // of the bounded columns
	inverse [][]float64 // of the basis
	x       []float64   // values of the basic variables
	y       []float64   // worths
	w       []float64   // entering column in terms of the basis
	col     []float64   // scratch
	stalled int         // pivots since the last progress
}

// solve returns the final basis and the worths that belong to it, at most after
// limit pivots. The worths are meant to be made safe by the caller.
func (c *covering) solve(limit int) (basis []int, worth []float64) {
	s := newSimplex(c)
	s.run(limit)
	return s.basis, s.y
}

// newSimplex starts from the stand-ins.
func newSimplex(c *covering) *simplex {
	m := c.rows
	s := &simplex{
		covering: c,
		basis:    make([]int, m),
		inBasis:  make([]bool, c.columns()+2*m),
		atUpper:  make([]bool, len(c.upper)),
		inverse:  make([][]float64, m),
		x:        slices.Clone(c.b),
		y:        make([]float64, m),
		w:        make([]float64, m),
		col:      make([]float64, m),
	}
	for d := range m {
		s.basis[d] = c.standIn(d)
		s.inBasis[s.basis[d]] = true
		s.inverse[d] = make([]float64, m)
		s.inverse[d][d] = 1
	}
	return s
}

// run pivots until the optimum, at most limit times, and leaves the worths of the
// final basis in s.y.
func (s *simplex) run(limit int) {
	for pivots := range limit {
		if pivots%refreshEvery == refreshEvery-1 && !s.refresh() {
			break
		}
		s.price()
		entering, down := s.choose(s.stalled > stallLimit)
		if entering < 0 {
			return
		}
		step, ok := s.pivot(entering, down)
		if !ok {
			break
		}
		if step > 1e-14 {
			s.stalled = 0
		} else {
			s.stalled++
		}
	}
	s.price()
}

// cost is 1 for columns and stand-ins, 0 for surplus.
func (s *simplex) cost(j int) float64 {
	if j >= s.columns()+s.rows {
		return 0
	}
	return 1
}

// price computes the worths from the basis.
func (s *simplex) price() {
	clear(s.y)
	for i, row := range s.inverse {
		if s.cost(s.basis[i]) == 0 {
			continue
		}
		for d, v := range row {
			s.y[d] += v
		}
	}
}

// choose returns the variable that is furthest from balance, and whether it must
// go down from its upper bound; -1 at the optimum. With first set it returns the
// first variable that is out of balance.
func (s *simplex) choose(first bool) (entering int, down bool) {
	entering, best := -1, tolerance
	m, n := s.rows, s.columns()
	bounded := n - len(s.upper)
	y := s.y
	for j, k := 0, 0; j < n; j, k = j+1, k+m {
		worth := -1.0
		for d, v := range s.a[k : k+m] {
			worth += v * y[d]
		}
		up := j >= bounded && s.atUpper[j-bounded]
		if up {
			worth = -worth
		}
		if worth > best && !s.inBasis[j] {
			entering, best, down = j, worth, up
			if first {
				return entering, down
			}
		}
	}
	for d := range m {
		if j := s.surplus(d); -y[d] > best && !s.inBasis[j] {
			entering, best, down = j, -y[d], false
			if first {
				return entering, down
			}
		}
	}
	return entering, down
}

// column writes the coefficients of variable j to s.col.
func (s *simplex) column(j int) {
	n := s.columns()
	if j < n {
		copy(s.col, s.a[j*s.rows:(j+1)*s.rows])
		return
	}
	clear(s.col)
	if j < n+s.rows {
		s.col[j-n] = 1
	} else {
		s.col[j-n-s.rows] = -1
	}
}

func (s *simplex) bound(j int) float64 {
	if k := j - (s.columns() - len(s.upper)); k >= 0 && k < len(s.upper) {
		return s.upper[k]
	}
	return math.Inf(1)
}

// pivot moves the entering variable as far as the basis allows. It returns how
// far, and false where nothing stops it.
func (s *simplex) pivot(entering int, down bool) (step float64, ok bool) {
	s.column(entering)
	for i, row := range s.inverse {
		sum := 0.0
		for d, v := range row {
			sum += v * s.col[d]
		}
		s.w[i] = sum
	}
	sign := 1.0
	if down {
		sign = -1
	}
	leaving, toUpper := -1, false
	step = s.bound(entering)
	for i, w := range s.w {
		w *= sign
		var t float64
		switch {
		case w > pivotFloor:
			t = max(0, s.x[i]/w)
		case w < -pivotFloor && !math.IsInf(s.bound(s.basis[i]), 1):
			t = max(0, (s.bound(s.basis[i])-s.x[i])/-w)
		default:
			continue
		}
		if t < step || t == step && leaving >= 0 && math.Abs(w) > math.Abs(s.w[leaving]) {
			leaving, step, toUpper = i, t, w < 0
		}
	}
	if math.IsInf(step, 1) {
		return 0, false
	}
	for i, w := range s.w {
		s.x[i] -= sign * step * w
	}
	if leaving < 0 {
		s.flip(entering, !down)
		return step, true
	}
	start := 0.0
	if down {
		start = s.bound(entering)
		s.flip(entering, false)
	}
	if toUpper {
		s.flip(s.basis[leaving], true)
	}
	s.inBasis[s.basis[leaving]], s.inBasis[entering] = false, true
	s.basis[leaving] = entering
	s.x[leaving] = start + sign*step
	s.eliminate(leaving)
	return step, true
}

// flip notes at which bound a bounded column stands.
func (s *simplex) flip(j int, upper bool) {
	if k := j - (s.columns() - len(s.upper)); k >= 0 && k < len(s.upper) {
		s.atUpper[k] = upper
	}
}

// eliminate updates the inverse after the column s.w has taken over row r.
func (s *simplex) eliminate(r int) {
	pivotRow := s.inverse[r]
	scale := 1 / s.w[r]
	for d := range pivotRow {
		pivotRow[d] *= scale
	}
	for i, row := range s.inverse {
		if i == r || s.w[i] == 0 {
			continue
		}
		f := s.w[i]
		for d := range row {
			row[d] -= f * pivotRow[d]
		}
	}
}

// refresh computes the inverse and the basic values anew from the basis. It
// reports false where the basis is singular in floating point.
func (s *simplex) refresh() bool {
	m := s.rows
	matrix := make([][]float64, m)
	for i := range matrix {
		matrix[i] = make([]float64, m)
	}
	for k, j := range s.basis {
		s.column(j)
		for i := range m {
			matrix[i][k] = s.col[i]
		}
	}
	inverse, ok := linear.Invert(matrix, singular)
	if !ok {
		return false
	}
	s.inverse = inverse
	residual := slices.Clone(s.b)
	for k, up := range s.atUpper {
		if !up {
			continue
		}
		j := s.columns() - len(s.upper) + k
		s.column(j)
		for d, v := range s.col {
			residual[d] -= v * s.upper[k]
		}
	}
	for i := range m {
		sum := 0.0
		for d, v := range s.inverse[i] {
			sum += v * residual[d]
		}
		s.x[i] = sum
	}
	return true
}
