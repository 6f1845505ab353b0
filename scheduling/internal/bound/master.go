package bound

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
)

// master is the linear program over the patterns that are known: how many machines of
// each to buy so that every class has its pods and no supply is overdrawn. Rows are the
// classes (at least their pods) and then the supplies (at least minus their count). It is
// solved by the simplex method, which goes on from where it was when patterns are added.
type master struct {
	wanted  []float64 // by row
	columns []column
	basis   []int
	inBasis []bool
	inverse [][]float64
	x, y    []float64 // of the basis, and the worths of the rows
	entries []float64
}

// column is a pattern with its price, or a row's surplus.
type column struct {
	rows   []int
	counts []float64
	price  float64
}

const (
	// mostPivots bounds one solution, restPivots how many go by until the inverse is
	// worked out anew.
	mostPivots, restPivots = 2000, 100
	// patience is how many pivots may gain nothing until the first column in line enters
	// and not the best.
	patience = 60
	// leastMasterPivot is the least number that is divided by to invert the basis.
	leastMasterPivot = 1e-12
)

// newMaster starts with a pattern of its own for each class, and all supplies unused.
func newMaster(wanted []float64, alone []column) *master {
	m := &master{wanted: wanted}
	rows := len(wanted)
	m.x, m.y, m.entries = make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for row := range rows {
		m.columns = append(m.columns, column{rows: []int{row}, counts: []float64{-1}})
	}
	for row := range rows {
		m.basis = append(m.basis, row)
		if row < len(alone) {
			m.basis[row] = len(m.columns)
			m.columns = append(m.columns, alone[row])
		}
	}
	m.inBasis = make([]bool, len(m.columns))
	for _, j := range m.basis {
		m.inBasis[j] = true
	}
	m.inverse = make([][]float64, rows)
	for i := range m.inverse {
		m.inverse[i] = make([]float64, rows)
	}
	return m
}

func (m *master) add(c column) {
	m.columns, m.inBasis = append(m.columns, c), append(m.inBasis, false)
}

// gain is what one unit of a column saves by the present worths.
func (m *master) gain(c *column) float64 {
	sum := -c.price
	for k, row := range c.rows {
		sum += m.y[row] * c.counts[k]
	}
	return sum
}

// solve returns the price of the best mix of the patterns, and how many pivots it took.
func (m *master) solve() (value float64, pivots int) {
	stalled := 0
	for m.refresh() && pivots < mostPivots {
		fresh := pivots
		for ; pivots < fresh+restPivots; pivots++ {
			entering := m.choose(stalled > patience)
			if entering < 0 {
				return m.value(), pivots
			}
			step, ok := m.pivot(entering)
			if !ok {
				return m.value(), pivots
			}
			stalled++
			if step > 1e-12 {
				stalled = 0
			}
		}
	}
	return m.value(), pivots
}

func (m *master) value() float64 {
	sum := 0.0
	for i, j := range m.basis {
		sum += m.columns[j].price * m.x[i]
	}
	return sum
}

func (m *master) choose(first bool) int {
	entering, best := -1, 1e-10
	for j := range m.columns {
		if m.inBasis[j] {
			continue
		}
		c := &m.columns[j]
		if gain := m.gain(c) / (c.price + 1e-6); gain > best {
			entering, best = j, gain
			if first {
				break
			}
		}
	}
	return entering
}

func (m *master) pivot(entering int) (step float64, ok bool) {
	c := &m.columns[entering]
	for i, row := range m.inverse {
		sum := 0.0
		for k, r := range c.rows {
			sum += row[r] * c.counts[k]
		}
		m.entries[i] = sum
	}
	leaving := -1
	step = math.Inf(1)
	for i, v := range m.entries {
		if v <= 1e-9 {
			continue
		}
		if t := max(0, m.x[i]) / v; t < step || t == step && v > m.entries[leaving] {
			leaving, step = i, t
		}
	}
	if leaving < 0 {
		return 0, false
	}
	gain := m.gain(c)
	for i, v := range m.entries {
		m.x[i] -= step * v
	}
	m.x[leaving] = step
	pivot := m.inverse[leaving]
	for d := range pivot {
		pivot[d] /= m.entries[leaving]
	}
	for i, v := range m.entries {
		if i == leaving || v == 0 {
			continue
		}
		for d, p := range pivot {
			m.inverse[i][d] -= v * p
		}
	}
	for d, p := range pivot {
		m.y[d] -= gain * p
	}
	m.inBasis[m.basis[leaving]], m.inBasis[entering] = false, true
	m.basis[leaving] = entering
	return step, true
}

// refresh works inverse, solution and worths out from the basis. It reports false where
// rounding errors have made the basis useless.
func (m *master) refresh() bool {
	n := len(m.basis)
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
	}
	for k, j := range m.basis {
		c := &m.columns[j]
		for e, row := range c.rows {
			matrix[row][k] = c.counts[e]
		}
	}
	inverse, ok := linear.Invert(matrix, leastMasterPivot)
	if !ok {
		return false
	}
	m.inverse = inverse
	clear(m.y)
	for i := range n {
		m.x[i] = 0
		price := m.columns[m.basis[i]].price
		for d, v := range m.inverse[i] {
			m.x[i] += v * m.wanted[d]
			m.y[d] += price * v
		}
	}
	return true
}
