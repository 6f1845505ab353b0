package verify

import (
	"fmt"
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// assignmentProof is one attempt to prove a lower bound from what pods are worth.
//
// Take any vector of values of resources. The pods on a machine request no more than
// it has, so that by these values they are worth no more than its capacity. What pods
// of a sort are worth beyond that counts as often as the machine holds such pods. The
// sum bounds the worth of any pods that fit on the machine together, whatever the
// vector; so for each machine any vector may do whose sum is at most the price. Where
// none does and the certificate says so, the fillings themselves are tried.
type assignmentProof struct {
	*judge
	scale uint
	names []corev1.ResourceName
	// measures come after the resources in whatever has an entry for each.
	measures []*measure
	// spreads take off the worth of pods in some zones; worths has those of each zone.
	spreads []*zoneSpread
	worths  map[string]*assignmentProof
	// zones are proofs with worths of their own, all zones that there are; nil for none.
	zones map[string]*assignmentProof
	// tolls are what machines that are counted cost more or less.
	tolls []caseCosts
	// worthOf is what pods are worth by what they belong to, need and ask.
	worthOf     map[string]*big.Int
	values      []map[corev1.ResourceName]*big.Int // of the vectors
	vectors     []*valuation
	sorts       []*sort
	constraints []*tenant // for each, one that asks for it
	// known are the prices at which machines that hold the same passed or failed.
	known map[string]*verdicts
	// last is the vector that proved the machine before.
	last int
	// filling says that fillings may be tried where vectors prove too little; tries is
	// how many were.
	filling bool
	tries   *int
}

func (j *judge) assignmentBound(cert *scheduling.Certificate, claimed offerings.Price, tolls []caseCosts) {
	pr, ok := j.readAssignment(cert)
	if !ok {
		return
	}
	pr.tolls = tolls
	reserved, ok := pr.checkOffers()
	if !ok {
		return
	}
	sum := owed(tolls, pr.scale)
	for _, s := range pr.sorts {
		sum.Add(sum, new(big.Int).Mul(s.worth, big.NewInt(s.count(anywhere))))
	}
	sum.Sub(sum, reserved)
	for _, z := range pr.spreads {
		sum.Sub(sum, z.dearest())
	}
	for _, s := range pr.sortedStations() {
		if !leaving(s.node) {
			zone, ok := s.value(corev1.LabelTopologyZone)
			x := pr.in(zone, ok)
			sum.Sub(sum, x.least(x.stationLoad(s), new(big.Int)))
		}
	}
	j.proven(wholePrice(sum, pr.scale), claimed)
}

// readAssignment reads the certificate. It reports whether all of it can be read.
func (j *judge) readAssignment(cert *scheduling.Certificate) (*assignmentProof, bool) {
	pr := &assignmentProof{
		judge: j, scale: uint(cert.Scale), known: make(map[string]*verdicts), filling: cert.Kind == patternKind,
		tries: new(int), worths: make(map[string]*assignmentProof),
	}
	measures, fine := j.readMeasures(cert)
	pr.measures = measures
	spreads, read := j.readSpreads(cert)
	pr.spreads = spreads
	worths, ok := pr.readDuals(cert)
	pr.worthOf = worths
	ok = ok && fine && read
	placed := j.placed()
	kinds := j.kindsBy(func(t *tenant) bool { return placed[t.name] }, func(t *tenant) string { return pr.belongs(t) + t.signature() })
	pr.names = requested(kinds)
	pr.values = make([]map[corev1.ResourceName]*big.Int, len(cert.Vectors))
	for i, texts := range cert.Vectors {
		v, fine := j.naturals(fmt.Sprintf("vectors[%d]: value of ", i), texts)
		pr.values[i], ok = resources(v), ok && fine
	}
	if !ok {
		return nil, false
	}
	if !pr.readSorts(kinds, worths) {
		j.malformed("the placed pods request too much to be counted")
		return nil, false
	}
	pr.weigh()
	return pr, true
}

// weigh works out what the vectors leave of the worths of the sorts.
func (pr *assignmentProof) weigh() {
	pr.vectors = make([]*valuation, len(pr.values))
	for i, v := range pr.values {
		pr.vectors[i] = pr.valuation(v)
	}
}

// stationLoad is what a running node may hold.
func (pr *assignmentProof) stationLoad(s *station) load {
	welcome := make([]bool, len(pr.constraints))
	for i, c := range pr.constraints {
		welcome[i] = s.welcomes(c)
	}
	room := pr.vector(s.free)
	for i, m := range pr.measures {
		room[len(pr.names)+i] = m.station(s)
	}
	return pr.loadOf(room, func(_ *sort, c int) bool { return welcome[c] })
}

// checkOffers looks for machines that no vector shows to hold no more worth than they
// cost. It returns what reservations may hold for less than it is worth.
func (pr *assignmentProof) checkOffers() (reserved *big.Int, ok bool) {
	surplus := make(map[string]*big.Int)
	known := newBareOffers(pr.harmless)
	if pr.rooms != nil {
		known.rooms = pr.rooms
	}
	ok = pr.checkSales(known, func(m *machine) bool {
		x := pr.in(m.offering.Zone, true)
		if m.offering.CapacityType != offerings.Reserved {
			return x.bearable(m)
		}
		id, cost := m.offering.ReservationID, new(big.Int).Lsh(big.NewInt(int64(pr.objective(m.kind, m.offering))), pr.scale)
		for _, l := range x.loads(m, pr.roomsByConstraint(m)) {
			over := new(big.Int).Sub(x.least(l, cost), cost)
			if old := surplus[id]; over.Sign() > 0 && (old == nil || over.Cmp(old) > 0) {
				surplus[id] = over
			}
		}
		return true
	})
	reserved = new(big.Int)
	for id, over := range surplus {
		reserved.Add(reserved, new(big.Int).Mul(over, big.NewInt(int64(pr.reservations[id]))))
	}
	return reserved, ok
}
