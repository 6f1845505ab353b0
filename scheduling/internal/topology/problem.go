package topology

// None says that the nodes of a site lack the key of a rule.
const None int32 = -1

// Nowhere is the cost of a site at which no machine can be bought.
const Nowhere int64 = -1

// Kind is the kind of a rule.
type Kind int8

// The kinds of rules.
const (
	// Spread keeps the numbers of counted pods in the domains close to each other.
	Spread Kind = iota
	// Affinity admits pods only where counted pods are.
	Affinity
	// Anti keeps the pods that hold it and those that it counts apart.
	Anti
)

// Problem is pods to spread over sites, and the rules they obey. Nothing in it is
// changed.
type Problem struct {
	// Dims is the number of resources in every vector.
	Dims int
	// Classes are the pods.
	Classes []Class
	// Rules are the topology terms of the pods.
	Rules []Rule
	// Bins is the room of each running machine, by resource.
	Bins [][]int64
	// Priced says that penalties and weights are money like costs, so that the sum
	// decides. Otherwise the penalties decide, and costs between equal penalties.
	Priced bool
	// Proofs bounds the work that goes into reassigning pods to cheaper sites, in proofs that all
	// bind in any order. 0 takes plans as they come.
	Proofs int
	// Shuffle tells plans apart that are looked for at random.
	Shuffle uint64
	// Late says that there is no time for moving pods to cheaper sites any more; nil for never.
	// Several goroutines may ask at once.
	Late func() bool `json:"-"`
}

// outOfTime reports whether there is no time for moving pods to cheaper sites any more.
func (p *Problem) outOfTime() bool { return p.Late != nil && p.Late() }

// Class is pods that are interchangeable.
type Class struct {
	// Count is the number of pods.
	Count int64
	// Priority: higher ones choose first.
	Priority int32
	// Request is that of one pod, by resource.
	Request []int64
	// Links are the rules that have to do with the class, each at most once.
	Links []Link
	// Sites are the places to which its pods can go.
	Sites []Site
}

// Link says whether the pods of a class hold a rule, and whether it counts them.
type Link struct {
	// Rule is the rule's place in Problem.Rules.
	Rule int32
	// Holds says that the pods obey the rule. For Anti, they also keep counted pods
	// away.
	Holds bool
	// Counts is how much one pod counts for the rule; 0 if it is not counted.
	Counts int64
}

// Site is a place to which pods of a class can go.
type Site struct {
	// Domains is, for each link of the class, the rule's domain here, or [None].
	Domains []int32
	// Counted says, for each link, whether pods here count for the rule. Spread rules
	// pass over nodes that their node policies exclude. A link without an entry counts.
	Counted []bool
	// Cost is that of one pod on a machine bought here, in nano-USD per hour, or
	// [Nowhere].
	Cost int64
	// Penalty is for preferences that the site itself does not grant.
	Penalty int64
	// Bins are the running machines here that admit the class, by place in Problem.Bins.
	Bins []int32
	// Limit is the largest number of pods that may go here; below 0 it is any number.
	Limit int64
}

// Rule is a spread, affinity or anti-affinity term.
type Rule struct {
	// Kind is spread, affinity or anti-affinity.
	Kind Kind
	// Max is how far a domain may be above the least one (Spread).
	Max int64
	// MinDomains is the number of domains below which the least one is taken as empty
	// (Spread).
	MinDomains int64
	// Weight makes the rule a preference, and is the penalty for breaking it; 0 if the rule must hold.
	Weight int64
	// Domains are the values of the key.
	Domains []Domain
	// Total is the number of counted pods that run anywhere on a node with the key
	// (Affinity). While it is above 0, no pod may open a domain for its own kind.
	Total int64
}

// Domain is one value of a rule's key.
type Domain struct {
	// Count is the number of counted pods that run there.
	Count int64
	// Holders is the number of pods that run there and hold the rule (Anti).
	Holders int64
	// Eligible says that nodes which run and pass the rule's node policies have this
	// value, so that it counts for the minimum (Spread). Domains at which a class that
	// holds the rule can go count too.
	Eligible bool
}

// Result is where pods go.
type Result struct {
	// Counts is the number of pods by class and site.
	Counts [][]int64
	// Unplaced is the number of pods left, by class.
	Unplaced []int64
}
