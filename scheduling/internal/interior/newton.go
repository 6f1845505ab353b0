package interior

import (
	"math"
	"slices"
)

// factorise builds the reduced Newton matrix and factorises it as L·D·Lᵀ. Values of
// resources have positive pivots, machines negative ones, and no pivoting is needed.
func (p *Solver) factorise() bool {
	side := p.Dims + 1
	for _, row := range p.matrix {
		clear(row)
	}
	for o := range p.machines {
		at := o * side
		for d := range p.Dims {
			i := p.lambda + o*p.Dims + d
			p.matrix[at+1+d][at+1+d] = p.m[i] / p.s[i]
			p.matrix[at+1+d][at] = p.Caps[o*p.Dims+d]
		}
		p.matrix[at][at] = -p.s[p.budget+o] / p.m[p.budget+o]
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		for k, o := range l.Machines {
			for _, other := range l.Machines[:k+1] {
				p.matrix[max(o, other)*side][min(o, other)*side] -= p.s[l.pi] / p.m[l.pi]
			}
		}
	}
	for k, c := range p.order {
		from, to := p.First[c], p.First[c+1]
		if k == 0 || slices.CompareFunc(p.pairsOf(c), p.pairsOf(p.order[k-1]), comparePairs) != 0 {
			if k > 0 {
				p.scatter(p.order[k-1])
			}
			p.gram.begin((to - from) * side)
		}
		vectors := p.gram.next()
		size := p.Sizes[c*p.Dims : (c+1)*p.Dims]
		diag := 0.0
		for i := from; i < to; i++ {
			q := &p.Pairs[i]
			w := p.m[i] / p.s[i]
			at := q.Machine * side
			b := vectors[(i-from)*side : (i-from+1)*side]
			b[0] = 0
			p.weight[i], p.cross[i] = w, 0
			if q.Places > 0 {
				v := p.m[q.mu] / p.s[q.mu]
				p.weight[i], p.cross[i] = w*v/(w+v), w/(w+v)
				b[0] = q.Places * p.cross[i]
				p.matrix[at][at] -= q.Places * q.Places / (w + v)
			}
			for d, n := range size {
				b[1+d] = -p.weight[i] * n
			}
			p.rest[i-from] = diag
			diag += p.weight[i]
		}
		p.diag[c] = diag
		// The class's contribution to a machine's own block is computed from the weights of the other machines,
		// because a difference would cancel.
		others := 0.0
		for i := to - 1; i >= from; i-- {
			q := &p.Pairs[i]
			at := q.Machine * side
			share := (p.rest[i-from] + others) / diag
			others += p.weight[i]
			for d, n := range size {
				for e := range d + 1 {
					p.matrix[at+1+d][at+1+e] += p.weight[i] * share * n * size[e]
				}
				p.matrix[at+1+d][at] -= q.Places * p.cross[i] * share * n
			}
			p.matrix[at][at] -= q.Places * p.cross[i] * q.Places * p.cross[i] / diag
		}
		p.gram.add(-1 / diag)
	}
	if len(p.order) > 0 {
		p.scatter(p.order[len(p.order)-1])
	}
	return p.cholesky()
}

// scatter adds the cross terms of different machines, for all classes that have the same machines as c.
func (p *Solver) scatter(c int) {
	p.gram.flush()
	side := p.Dims + 1
	pairs := p.pairsOf(c)
	for i := range pairs {
		for e := range side {
			from := p.gram.row(i*side + e)
			to := p.matrix[pairs[i].Machine*side+e]
			for j := range i {
				cells := to[pairs[j].Machine*side:][:side]
				for g, v := range from[j*side : (j+1)*side] {
					cells[g] += v
				}
			}
		}
	}
}

// rowsAtOnce is the number of rows that are factorised together: every sum is a chain of dependent steps, and
// the chains of different rows are independent.
const rowsAtOnce = 4

// cholesky factorises the matrix. The number of rows at once does not change any result.
func (p *Solver) cholesky() bool {
	n := len(p.matrix)
	for r := range p.scaled {
		if cap(p.scaled[r]) < n {
			p.scaled[r] = make([]float64, n)
		}
	}
	for first := 0; first < n; first += rowsAtOnce {
		from := 0
		if first+rowsAtOnce <= n {
			p.eliminate(first)
			from = first
		}
		for k := first; k < min(n, first+rowsAtOnce); k++ {
			if !p.finish(k, from, p.scaled[k-first][:n]) {
				return false
			}
		}
	}
	return true
}

// eliminate subtracts the rows before the first from rowsAtOnce rows.
func (p *Solver) eliminate(first int) {
	a, b, c, d := p.matrix[first], p.matrix[first+1], p.matrix[first+2], p.matrix[first+3]
	for j := range first {
		other, pivot := p.matrix[j][:j], p.matrix[j][j]
		w, x, y, z := p.scaled[0][:len(other)], p.scaled[1][:len(other)], p.scaled[2][:len(other)], p.scaled[3][:len(other)]
		s, t, u, v := a[j], b[j], c[j], d[j]
		for i, l := range other {
			s -= w[i] * l
			t -= x[i] * l
			u -= y[i] * l
			v -= z[i] * l
		}
		p.scaled[0][j], p.scaled[1][j], p.scaled[2][j], p.scaled[3][j] = s, t, u, v
		a[j], b[j], c[j], d[j] = s/pivot, t/pivot, u/pivot, v/pivot
	}
}

// finish factorises row k, for which the columns before from are done. scaled holds L·D of this row so far, the
// row itself L.
func (p *Solver) finish(k, from int, scaled []float64) bool {
	row := p.matrix[k]
	for j := from; j < k; j++ {
		sum := row[j]
		for i, l := range p.matrix[j][:j] {
			sum -= scaled[i] * l
		}
		scaled[j] = sum
		row[j] = sum / p.matrix[j][j]
	}
	pivot := row[k]
	for j := range k {
		pivot -= scaled[j] * row[j]
	}
	if math.IsNaN(pivot) || math.IsInf(pivot, 0) {
		return false
	}
	if k%(p.Dims+1) == 0 {
		pivot = min(pivot, -1e-30)
	} else {
		pivot = max(pivot, 1e-30)
	}
	row[k] = pivot
	return true
}

// direction solves the Newton system for the changes of slacks and multipliers. mh is the target of slack times
// multiplier, divided by the slack.
func (p *Solver) direction() {
	side := p.Dims + 1
	for o := range p.machines {
		at := o * side
		z := p.mh[p.budget+o]
		for d := range p.Dims {
			p.rhs[at+1+d] = p.mh[p.lambda+o*p.Dims+d] - z*p.Caps[o*p.Dims+d]
		}
		p.rhs[at] = 0
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		change := l.sign() * p.unlimited(l)
		for _, o := range l.Machines {
			p.rhs[o*side] += change
		}
	}
	for c := range p.classes {
		from, to := p.First[c], p.First[c+1]
		size := p.Sizes[c*p.Dims : (c+1)*p.Dims]
		left := p.Demand[c]
		for i := from; i < to; i++ {
			q := &p.Pairs[i]
			at := q.Machine * side
			left -= p.mh[i]
			own := p.mh[i]
			if q.Places > 0 {
				r := p.mh[i] - q.Places*p.mh[p.budget+q.Machine] + p.mh[q.mu]
				left += p.cross[i] * r
				own -= p.cross[i] * r
				p.rhs[at] -= q.Places * r * p.s[i] * p.cross[i] / p.m[i]
			}
			for d, n := range size {
				p.rhs[at+1+d] += n * own
			}
		}
		p.du[c] = left
		f := left / p.diag[c]
		for i := from; i < to; i++ {
			q := &p.Pairs[i]
			at := q.Machine * side
			for d, n := range size {
				p.rhs[at+1+d] += p.weight[i] * n * f
			}
			p.rhs[at] -= q.Places * p.cross[i] * f
		}
	}
	p.solve()
	for c := range p.classes {
		from, to := p.First[c], p.First[c+1]
		size := p.Sizes[c*p.Dims : (c+1)*p.Dims]
		sum := p.du[c]
		for i := from; i < to; i++ {
			q := &p.Pairs[i]
			at := q.Machine * side
			for d, n := range size {
				sum += p.weight[i] * n * p.dz[at+1+d]
			}
			sum -= q.Places * p.cross[i] * p.dz[at]
		}
		p.du[c] = sum / p.diag[c]
	}
	p.changes()
}

// unlimited returns the change of a limit's π without the contribution of its machines.
func (p *Solver) unlimited(l *Limit) float64 {
	sum := p.mh[l.pi] - l.count()
	for _, o := range l.Machines {
		sum += l.sign() * p.mh[p.budget+o]
	}
	return sum * p.s[l.pi] / p.m[l.pi]
}

// solve puts the solution for rhs into dz.
func (p *Solver) solve() {
	n := len(p.matrix)
	copy(p.dz, p.rhs)
	for k := range n {
		sum := p.dz[k]
		for j, l := range p.matrix[k][:k] {
			sum -= l * p.dz[j]
		}
		p.dz[k] = sum
	}
	for k := range n {
		p.dz[k] /= p.matrix[k][k]
	}
	for k := n - 1; k >= 0; k-- {
		v := p.dz[k]
		for j, l := range p.matrix[k][:k] {
			p.dz[j] -= l * v
		}
	}
}

// changes computes the changes of slacks from those of u, λ and the machines, and the changes of multipliers
// from them.
func (p *Solver) changes() {
	side := p.Dims + 1
	for o := range p.machines {
		sum := 0.0
		for d := range p.Dims {
			v := p.dz[o*side+1+d]
			p.ds[p.lambda+o*p.Dims+d] = v
			sum += v * p.Caps[o*p.Dims+d]
		}
		p.ds[p.budget+o] = -sum
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		sum := p.unlimited(l)
		for _, o := range l.Machines {
			sum += l.sign() * p.dz[o*side] * p.s[l.pi] / p.m[l.pi]
		}
		p.ds[l.pi] = sum
		for _, o := range l.Machines {
			p.ds[p.budget+o] += l.sign() * sum
		}
	}
	for i := range p.Pairs {
		q := &p.Pairs[i]
		e := p.du[q.Class]
		for d := range p.Dims {
			e -= p.dz[q.Machine*side+1+d] * p.Sizes[q.Class*p.Dims+d]
		}
		if q.Places > 0 {
			w := p.m[i] / p.s[i]
			r := p.mh[i] - q.Places*p.mh[p.budget+q.Machine] + p.mh[q.mu]
			mu := (r + w*e - q.Places*p.dz[q.Machine*side]) * p.cross[i] / w
			p.ds[q.mu] = mu
			p.ds[p.budget+q.Machine] -= q.Places * mu
			e -= mu
		}
		p.ds[i] = -e
	}
	for i := range p.s {
		p.dm[i] = p.mh[i] - p.m[i] - p.m[i]*p.ds[i]/p.s[i]
	}
	if p.Exact {
		// The slack of a price constraint is a difference of much larger numbers, so it cannot give the number
		// of machines.
		for o := range p.machines {
			i := p.budget + o
			p.dm[i] = p.mh[i] - p.m[i] + p.dz[o*side]
		}
		for i := range p.Limits {
			l := &p.Limits[i]
			left := l.count()
			for _, o := range l.Machines {
				left -= l.sign() * (p.m[p.budget+o] + p.dm[p.budget+o])
			}
			p.dm[l.pi] = left - p.m[l.pi]
		}
	}
}
