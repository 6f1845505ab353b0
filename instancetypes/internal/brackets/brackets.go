package brackets

// Bracket says which share of a stretch is reserved, in hundredths of a percent. A stretch
// begins where the one before ends.
type Bracket struct{ UpTo, Share int64 }

// Reserve returns the sum of the brackets' shares of an amount, each rounded down. Brackets are in
// order of UpTo. Nothing is reserved of the amount above the last one, nor of a negative amount.
func Reserve(amount int64, list ...Bracket) int64 {
	var sum, from int64
	for _, b := range list {
		stretch := min(amount, b.UpTo) - from
		if stretch <= 0 {
			break
		}
		sum += stretch * b.Share / 10_000
		from = b.UpTo
	}
	return sum
}

// Memory returns the memory that GKE and AKS reserve of a node's: a quarter of the first 4 GiB, a fifth
// of the next 4, a tenth of the next 8, 6 % of the next 112 and 2 % of the rest. unit is 1 GiB
// in the unit of the amount.
func Memory(amount, unit int64) int64 {
	return Reserve(amount, Bracket{4 * unit, 2500}, Bracket{8 * unit, 2000}, Bracket{16 * unit, 1000}, Bracket{128 * unit, 600}, Bracket{1 << 60, 200})
}
