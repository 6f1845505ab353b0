package certificate

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

const (
	// maxScale bounds the scale of a certificate, so that a forged one cannot ask for
	// numbers of any length.
	maxScale = 1024
	// mostCases bounds how many cases a certificate may tell apart.
	mostCases = 1 << 10
)

// Claim is a lower bound on the price of plans that place some pods, to be proven by a
// certificate.
type Claim struct {
	state  *snapshot.State
	bound  offerings.Price
	placed []*snapshot.Pod // in order of their names
	// at is the nodes of the pods in a plan, by name; nil for a bound about no plan.
	at map[string]*snapshot.Node
	// bare are machines of offerings as no pool makes them, by offering.
	bare   map[*offerings.Offering]*snapshot.Node
	report *rule.Report
	// constraints are pods, each for all with equal demands on a node beside room; constraint are their numbers, by
	// those demands. rooms are the amounts that machines have for the pods of each constraint, worked out once.
	constraints []*snapshot.Pod
	constraint  map[string]int
	rooms       map[*snapshot.Node][][]snapshot.Amounts
	spreads     *spreadReader // nil until asked
	key         string        // the label that says in which domain a node is
	cases       int
	proof       *Proof // nil until a sum is proven
}

// NewClaim prepares to judge a certificate; isPlaced says of a pod whether the plans place it. The report receives the
// faults of the certificate.
func NewClaim(report *rule.Report, w *snapshot.State, bound offerings.Price, isPlaced func(name string) bool, at map[string]*snapshot.Node) *Claim {
	c := &Claim{report: report, state: w, bound: bound, at: at, constraint: make(map[string]int), rooms: make(map[*snapshot.Node][][]snapshot.Amounts), bare: make(map[*offerings.Offering]*snapshot.Node)}
	for _, t := range w.SortedPods() {
		if !isPlaced(t.Name) {
			continue
		}
		c.placed = append(c.placed, t)
		if _, known := c.constraint[t.Asks()]; !known {
			c.constraint[t.Asks()] = len(c.constraints)
			c.constraints = append(c.constraints, t)
		}
	}
	return c
}

// Judge reports each fault of a certificate of the bound. It returns the proof, without terms where there is none.
func (c *Claim) Judge(cert *certificate.Certificate) *Proof {
	c.judge(cert)
	proof := c.proof
	if proof == nil {
		proof = &Proof{Proven: new(big.Int)}
	}
	if cert != nil {
		proof.Kind = cert.Kind
	}
	return proof
}

func (c *Claim) judge(cert *certificate.Certificate) {
	if c.key = corev1.LabelTopologyZone; cert != nil && cert.TopologyKey != "" {
		c.key = cert.TopologyKey
	}
	switch {
	case cert != nil && cert.TopologyKey != "" && c.spreadReader().undetermined != "":
		c.malformed("%s may have any value of label %s", c.spreads.undetermined, c.key)
	case cert == nil && c.bound > 0:
		c.report.Add(rule.CertificateMissing, "summary", "the lower bound of $%v has no certificate", c.bound)
	case cert == nil:
	case cert.Scale < 0 || cert.Scale > maxScale:
		c.malformed("scale %d is not between 0 and %d", cert.Scale, maxScale)
	case byDomain(cert) && cert.Kind != certificate.AssignmentKind:
		c.malformed("domains and balances need kind %q", certificate.AssignmentKind)
	case byDomain(cert):
		judgeDomains(c, cert)
	case cert.Kind == certificate.AssignmentKind || cert.Kind == certificate.PatternKind:
		judgeAssignment(c, cert, nil)
	case cert.Kind == certificate.BranchedKind && len(c.state.Reservations) > 0:
		c.malformed("kind branched must not be used with reservations")
	case cert.Kind == certificate.BranchedKind:
		c.judgeCase(cert, nil)
	case len(cert.Vectors)+len(cert.Spreads) > 0:
		c.malformed("vectors and spreads must be empty with kind %q", cert.Kind)
	case cert.Kind == certificate.CoverKind:
		judgeCover(c, cert)
	case cert.Kind != certificate.ResourceKind:
		c.malformed("unknown kind %q", cert.Kind)
	case len(cert.Apart)+len(cert.Steps) > 0:
		c.malformed("apart and steps must be empty with kind %q", cert.Kind)
	default:
		judgeAssignment(c, cert, nil)
	}
}

func (c *Claim) malformed(format string, args ...any) {
	c.report.Add(rule.CertificateMalformed, "certificate", format, args...)
}

// naturals reads natural numbers by name, and reports whether all are.
func (c *Claim) naturals(what string, texts map[string]string) (map[string]*big.Int, bool) {
	ok := true
	values := make(map[string]*big.Int, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		v, isNumber := new(big.Int).SetString(texts[name], 10)
		if !isNumber || v.Sign() < 0 {
			c.malformed("%s%s is %q, must be a whole number that is not negative", what, name, texts[name])
			ok = false
			continue
		}
		values[name] = v
	}
	return values, ok
}

// valueOf is 0 where nothing is listed.
func valueOf[K comparable](values map[K]*big.Int, key K) *big.Int {
	if v := values[key]; v != nil {
		return v
	}
	return new(big.Int)
}

// roomsByConstraint returns the amounts that the machine may have for the pods of each constraint, because a pod may
// fix labels that are open, and so the daemons that run there.
func (c *Claim) roomsByConstraint(m *snapshot.Node) [][]snapshot.Amounts {
	rooms, known := c.rooms[m]
	if !known {
		settled := len(c.state.Daemons.Questions(m)) == 0
		for _, t := range c.constraints {
			rooms = append(rooms, c.roomsFor(m, t, settled))
		}
		c.rooms[m] = rooms
	}
	return rooms
}

// roomsFor returns the amounts that the machine may have for pods with the demands of t: one for each way to choose
// the open labels that DaemonSets ask about. Requests of t do not matter.
func (c *Claim) roomsFor(m *snapshot.Node, t *snapshot.Pod, settled bool) []snapshot.Amounts {
	if settled {
		if m.Admits(t, snapshot.LastingFilters|snapshot.NodePorts) {
			return []snapshot.Amounts{m.Free}
		}
		return nil
	}
	var rooms []snapshot.Amounts
	for _, alternative := range t.Selector {
		one := *t
		one.Selector = snapshot.Selector{alternative}
		if !m.Admits(&one, snapshot.LastingFilters) {
			continue
		}
		for _, choice := range c.state.Daemons.Choices(m, alternative.Exprs) {
			if choice.Admits(&one, snapshot.NodePorts) {
				rooms = append(rooms, choice.Free)
			}
		}
	}
	return rooms
}

// requested are the resources that the placed pods request.
func (c *Claim) requested() []corev1.ResourceName {
	all := snapshot.Amounts{}
	for _, t := range c.placed {
		all.Raise(t.Requests)
	}
	return snapshot.Names(all)
}

// judgeCase proves the bound case by case: of machines that cost at least From, a plan launches either at most
// AtMost, or more.
func (c *Claim) judgeCase(cert *certificate.Certificate, multipliers []multiplier) {
	if c.cases++; c.cases > mostCases {
		if c.cases == mostCases+1 {
			c.malformed("more than %d cases", mostCases)
		}
		return
	}
	if cert != nil && cert.Kind == certificate.BranchedKind {
		x := cert.Branched
		if x == nil || x.From < 0 || x.AtMost < 0 {
			c.malformed("branched needs from and atMost, neither below 0")
			return
		}
		more := new(big.Int).Add(big.NewInt(x.AtMost), big.NewInt(1))
		c.judgeCase(x.Fewer, append(slices.Clip(multipliers), multiplier{from: x.From, domain: x.Domain, count: big.NewInt(x.AtMost)}))
		c.judgeCase(x.More, append(slices.Clip(multipliers), multiplier{from: x.From, domain: x.Domain, count: more, least: true}))
		return
	}
	if cert == nil || cert.Kind != certificate.AssignmentKind || byDomain(cert) || cert.Scale < 0 || cert.Scale > maxScale || len(cert.Multipliers) != len(multipliers) {
		c.malformed("a case must be of kind assignment without domains, with %d multipliers", len(multipliers))
		return
	}
	for i := range multipliers {
		if multipliers[i].per = cert.Multipliers[i]; multipliers[i].per < 0 {
			c.malformed("multiplier %v is below 0", multipliers[i].per)
			return
		}
	}
	judgeAssignment(c, cert, multipliers)
}

// multiplier is the amount that a machine counted for a case costs more, or less.
type multiplier struct {
	from   offerings.Price
	domain string   // "" for all
	count  *big.Int // how many there are at most, or at least
	least  bool
	per    offerings.Price
}

// charged returns the cost of a machine of a price in a domain, with multipliers. ok is false where that is no price.
func charged(multipliers []multiplier, price offerings.Price, domain string) (with offerings.Price, ok bool) {
	sum := big.NewInt(int64(price))
	for _, t := range multipliers {
		switch {
		case price < t.from || t.domain != "" && t.domain != domain:
		case t.least:
			sum.Sub(sum, big.NewInt(int64(t.per)))
		default:
			sum.Add(sum, big.NewInt(int64(t.per)))
		}
	}
	return offerings.Price(sum.Int64()), sum.Sign() >= 0 && sum.IsInt64()
}

// addMultipliers adds the least that the multipliers amount to in the plans of the case.
func (s *sum) addMultipliers(multipliers []multiplier) {
	for _, t := range multipliers {
		sign, limit, where := int64(-1), "at most", ""
		if t.least {
			sign, limit = 1, "at least"
		}
		if t.domain != "" {
			where = " in " + t.domain
		}
		all := new(big.Int).Mul(t.count, big.NewInt(int64(t.per)))
		s.add(sign, all.Lsh(all, s.scale), "multiplier $%v of the case with %s %v new nodes of $%v or more%s", t.per, limit, t.count, t.from, where)
	}
}
