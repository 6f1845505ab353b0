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
	// Rooms is the room of the bins in order; nil where nobody knows it.
	Rooms *Rooms
	// Open are, by group, the bins that admit it; nil where nobody has listed them.
	Open  []Bits
	Pools []Pool
	// Supply is how many machines each reservation still holds.
	Supply []int64
	// Passes are the ranks at which classes look for options, best first.
	Passes []Pass
	// Floors are the flexibility floors that options point at.
	Floors []Floor
	// PerNodeLimits bound how many pods of a kind may share a machine.
	PerNodeLimits []PerNodeLimit
	// BestEffort lowers floors to what the pods of a machine could reach at best.
	BestEffort bool
}

// Class is pods that are interchangeable.
type Class struct {
	Group    int32
	Request  []int64
	Count    int64
	Priority int32
	// PerNode bounds how many may share a machine; 0 is no bound.
	PerNode int64
	// Conflicts are the other classes that may not share a machine with it, ascending.
	Conflicts []ClassID
	// PerNodeLimits are the per-node limits that concern the class, ascending.
	PerNodeLimits []Membership
}

// PerNodeLimit bounds how many pods of several classes may share a machine, wherever a pod
// sits that holds it to that.
type PerNodeLimit struct {
	Max int64
}

// Membership is what a class has to do with a per-node limit.
type Membership struct {
	Limit int32
	// Weight is how much each of its pods counts towards the per-node limit; 0 for a class that
	// only holds others to it.
	Weight int64
	// Holds says that no machine with a pod of the class may hold more than Max of
	// the per-node limit, those that run there already counted.
	Holds bool
}

// Presence is how much of a per-node limit runs on a bin already.
type Presence struct {
	Limit int32
	N     int64
}

// Option is a machine that may be bought.
type Option struct {
	Pool PoolID
	// Room is what pods may use: allocatable less the daemons that will run there.
	Room []int64
	// Use is what one machine takes of its pool's limits.
	Use []int64
	// Cost is what the search minimises, Price what is paid, both in nano-USD per hour.
	Cost, Price int64
	// Supply indexes Problem.Supply, or is NoSupply.
	Supply int32
	// Admits are the groups whose pods may run there, Soft those of them that
	// would rather not (a taint with effect PreferNoSchedule).
	Admits, Soft Bits
	// Weight ranks the pool, 0 the most wanted.
	Weight int32
	// Floor indexes Problem.Floors, or is -1.
	Floor int32
	// Worst, where it is set, is the most that a machine bought in its place may take
	// of its pool's limits: members of the floor that take more do not count, and as
	// much must stay free of the limits that the exchange would keep them.
	Worst []int64
}

// Bin is a machine that already runs.
type Bin struct {
	Room   []int64
	Admits Bits
	Soft   Bits
	// Present are the per-node limits that already have pods there, ascending.
	Present []Presence
}

// Pool is who pays.
type Pool struct {
	// Limits is what may still be bought, one entry per limited resource.
	Limits []int64
}

// Pass selects what may be bought at one rank: options of one weight, for the
// groups that are indifferent to their taints (or, with Soft, for those that are not).
type Pass struct {
	Weight int32
	Soft   bool
}

// Floor is a flexibility floor: among the members that hold a load, each key must
// still have at least Min distinct values.
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

// FloorMember is one offering behind a floor: what it has room for, whom it admits
// and its value for each key (-1 for none).
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

// Solution is where every pod goes. Bins has one entry per bin of the problem;
// Unplaced one count per class.
type Solution struct {
	Nodes    []Node
	Bins     [][]Item
	Unplaced []int64
}
