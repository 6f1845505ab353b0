package azure

// bracket says which share of a stretch of a resource is reserved, in percent. A
// stretch begins where the one before ends.
type bracket struct{ upTo, percent int64 }

// reservedCPU returns how many of a node's millicores AKS reserves: 6 % of the first
// core, 4 % of the second, 2 % of the third and fourth, 1 % of the rest.
func reservedCPU(millicores int64) int64 {
	return reserve(millicores, []bracket{{1000, 6}, {2000, 4}, {4000, 2}, {1 << 40, 1}})
}

// reservedMemory returns how many of a node's MiB AKS reserves: a quarter of the
// first 4 GiB, a fifth of the next 4, a tenth of the next 8, 6 % of the next 112 and
// 2 % of the rest. The rule is that of AKS before Kubernetes 1.29, which Karpenter's
// Azure provider keeps to; newer nodes reserve less.
func reservedMemory(mebibytes int64) int64 {
	return reserve(mebibytes, []bracket{{4 << 10, 25}, {8 << 10, 20}, {16 << 10, 10}, {128 << 10, 6}, {1 << 40, 2}})
}

// reserve sums up the shares and rounds down.
func reserve(amount int64, brackets []bracket) int64 {
	var hundredths, from int64
	for _, b := range brackets {
		stretch := min(amount, b.upTo) - from
		if stretch <= 0 {
			break
		}
		hundredths += stretch * b.percent
		from = b.upTo
	}
	return hundredths / 100
}
