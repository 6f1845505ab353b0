package covering

import "math/big"

// equation is Σ coef_d y_d = rhs.
type equation struct {
	coef []int64
	rhs  *big.Int
}

// solveExactly returns the solution of as many equations as unknowns as numerators
// over one positive denominator; ok is false where the equations are dependent.
// It is the fraction-free elimination of Bareiss, so that no number grows beyond a
// determinant of the input.
func solveExactly(eqs []equation) (numerators []*big.Int, denominator *big.Int, ok bool) {
	m := len(eqs)
	rows := make([][]*big.Int, m)
	for i, eq := range eqs {
		rows[i] = make([]*big.Int, m+1)
		for d := range m {
			rows[i][d] = big.NewInt(eq.coef[d])
		}
		rows[i][m] = new(big.Int).Set(eq.rhs)
	}
	previous := big.NewInt(1)
	var t big.Int
	for k := range m {
		p := k
		for p < m && rows[p][k].Sign() == 0 {
			p++
		}
		if p == m {
			return nil, nil, false
		}
		rows[k], rows[p] = rows[p], rows[k]
		pivot := rows[k][k]
		for i := range m {
			if i == k {
				continue
			}
			factor := new(big.Int).Set(rows[i][k])
			for d := range rows[i] {
				v := rows[i][d]
				v.Mul(v, pivot)
				v.Sub(v, t.Mul(factor, rows[k][d]))
				v.Quo(v, previous) // exact
			}
		}
		previous = new(big.Int).Set(pivot) // later steps change row k
	}
	// Every diagonal entry is now the determinant.
	denominator = previous
	numerators = make([]*big.Int, m)
	for i := range m {
		numerators[i] = rows[i][m]
		if denominator.Sign() < 0 {
			numerators[i].Neg(numerators[i])
		}
	}
	return numerators, denominator.Abs(denominator), true
}
