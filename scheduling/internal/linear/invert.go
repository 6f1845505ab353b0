package linear

import "math"

// Invert returns the inverse of a square matrix, row by row, by Gauss and Jordan's
// elimination with the largest pivots. It leaves nothing of the matrix. ok is false where a
// pivot is below the least.
func Invert(matrix [][]float64, least float64) (inverse [][]float64, ok bool) {
	n := len(matrix)
	cells := make([]float64, n*n)
	inverse = make([][]float64, n)
	for i := range inverse {
		inverse[i] = cells[i*n : (i+1)*n : (i+1)*n]
		inverse[i][i] = 1
	}
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if math.Abs(matrix[i][k]) > math.Abs(matrix[best][k]) {
				best = i
			}
		}
		if !(math.Abs(matrix[best][k]) >= least) {
			return nil, false
		}
		matrix[k], matrix[best] = matrix[best], matrix[k]
		inverse[k], inverse[best] = inverse[best], inverse[k]
		scale := 1 / matrix[k][k]
		for d := range n {
			matrix[k][d] *= scale
			inverse[k][d] *= scale
		}
		for i := range n {
			f := matrix[i][k]
			if i == k || f == 0 {
				continue
			}
			for d := k; d < n; d++ {
				matrix[i][d] -= f * matrix[k][d]
			}
			for d, v := range inverse[k] {
				inverse[i][d] -= f * v
			}
		}
	}
	return inverse, true
}
