package model

// ClassID indexes Classes of one [Problem].
type ClassID int32

// OptionID indexes Options of one [Problem].
type OptionID int32

// PoolID indexes Pools of one [Problem].
type PoolID int32

// NoSupply marks an option that may be bought without limit.
const NoSupply int32 = -1

// Problem is a compiled problem. The search reads it and never writes it.
//
// It is well formed when every vector of resources has Dims entries, every bit row
// over groups has Groups bits, every Option.Use has as many entries as its pool's
// Limits, no request or capacity is negative, and classes, options and bins stand
// in an order that does not depend on the order of the caller's input.
type Problem struct {
	Dims    int
	Groups  int
	Classes []Class
	Options []Option
	Bins    []Bin
	// Rooms is the bins in order of room; nil where the caller has not sorted them.
	Rooms *Rooms
	// Open are, by group, the bins that admit it; nil where the caller has not listed them.
	Open  []Bits
	Pools []Pool
	// Supply is the amount that each reservation still holds.
	Supply []int64
	// Passes are the ranks at which classes look for options, best first.
	Passes []Pass
	// Floors are the minValues floors of NodePools.
	Floors []Floor
	// PerNodeLimits bound how many pods of a kind may share a machine.
	PerNodeLimits []PerNodeLimit
	// BestEffort lowers floors to the number of values that the pods of a machine could reach at best.
	BestEffort bool
}

// Class is pods that are interchangeable.
type Class struct {
	Group    int32
	Request  []int64
	Count    int64
	Priority int32
	// PerNode bounds the pods of the class on one machine; 0 is no bound.
	PerNode int64
	// Conflicts are the other classes that may not share a machine with it, ascending.
	Conflicts []ClassID
	// PerNodeLimits are its memberships, ascending by limit.
	PerNodeLimits []Membership
}

// PerNodeLimit bounds the pods of several classes on a machine with a pod that enforces the limit, e.g. a pod
// with required anti-affinity by host.
type PerNodeLimit struct {
	Max int64
}

// Membership is the part of a class in a per-node limit.
type Membership struct {
	Limit int32
	// Weight is the number that each pod of the class counts for; 0 for a class that only enforces the limit.
	Weight int64
	// Holds says that the class enforces the limit: no machine with a pod of it may hold more than Max,
	// including pods that run there already.
	Holds bool
}

// Presence is the weight N of the pods on a bin in a per-node limit.
type Presence struct {
	Limit int32
	N     int64
}

// Option is a machine that may be bought.
type Option struct {
	Pool PoolID
	// Supply indexes Problem.Supply, or is NoSupply. It stands beside Pool because both fill one word: problems have many options.
	Supply int32
	// Room is the capacity for pods: allocatable minus the requests of DaemonSets that will run there.
	Room []int64
	// Use is the amount that one machine takes of its pool's limits.
	Use []int64
	// Cost is the objective of the search, Price the price, both in nano-USD per hour. They differ by ranking.
	Cost, Price int64
	// SupplyUse is the amount that one machine takes of its supply, at least 1; 0 with NoSupply.
	SupplyUse int64
	// Admits are the groups whose pods may run there, Soft those of them that do not tolerate a
	// PreferNoSchedule taint of it.
	Admits, Soft Bits
	// Weight ranks the pool, 0 the most wanted.
	Weight int32
	// Floor indexes Problem.Floors; −1 for none.
	Floor int32
	// Worst, if set, is the most that a machine launched in its place, by minValues, may take of its pool's
	// limits: floor members that take more do not count, and this much must stay free of the limits.
	Worst []int64
}

// Bin is an existing node.
type Bin struct {
	Room   []int64
	Admits Bits
	Soft   Bits
	// Present are the per-node limits that already have pods there, ascending.
	Present []Presence
}

// Pool is a NodePool.
type Pool struct {
	// Limits is the amount that may still be bought, by limited resource.
	Limits []int64
}

// Pass selects the options of one rank: options of one weight, for the groups that tolerate their
// PreferNoSchedule taints, or, with Soft, for the groups that do not.
type Pass struct {
	Weight int32
	Soft   bool
}

// Floor is a minValues requirement: among the members that hold a load, each key must have at least Min
// distinct values.
type Floor struct {
	Members []FloorMember
	Keys    []FloorKey
}

// FloorKey is one key of a floor. Values are numbered from 0.
type FloorKey struct {
	Min    int
	Values int
	// Strict says that BestEffort does not lower Min.
	Strict bool
}

// FloorMember is one offering of a floor: its room, its use of limits, the groups that it admits, and its value
// of each key (−1 for none).
type FloorMember struct {
	Room   []int64
	Use    []int64
	Admits Bits
	Values []int32
}

// Item is a number of pods of one class.
type Item struct {
	Class ClassID
	N     int64
}

// Node is a machine bought N times over, each with the same pods.
type Node struct {
	Option OptionID
	N      int64
	Items  []Item
}

// Solution is a place for every pod. Bins has one entry per bin of the problem; Unplaced is the number of pods
// without a place, by class.
type Solution struct {
	Nodes    []Node
	Bins     [][]Item
	Unplaced []int64
}
