package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// cmdCatalog replaces the catalog; with a pool, the catalog that this pool sees.
//
//	catalog [pool=NAME]
//	TYPE RESOURCE=QUANTITY… [arch=… os=… label=(KEY=VALUE…)] [reserve=(RESOURCE=QUANTITY…)] OFFERING…
//
// An offering is CAPACITY-TYPE@ZONE=PRICE in USD per hour, followed by xN (the
// machines left, reserved only), #ID (the reservation, reserved only), ~N% (the
// interruption rate, spot only), ! (not on sale now), +(RESOURCE=QUANTITY…) (what
// machines bought here have instead) and -(RESOURCE=QUANTITY…) (what the system
// keeps of them instead). A reservation without an id is called TYPE-ZONE. A type runs
// 110 pods unless it says otherwise.
func cmdCatalog(_ context.Context, s *session, args []word, input []string) (string, error) {
	pool := ""
	for _, w := range args {
		if w.key != "pool" {
			return "", unexpected(w)
		}
		pool = w.value
	}
	var types []*instancetypes.InstanceType
	offers := 0
	err := eachLine(input, func(line string) error {
		t, err := parseType(line)
		if err != nil {
			return err
		}
		types = append(types, t)
		offers += len(t.Offerings)
		return nil
	})
	if err != nil {
		return "", err
	}
	catalog, err := instancetypes.NewCatalog(types...)
	if err != nil {
		return "", err
	}
	if pool == "" {
		s.problem.Catalog = catalog
	} else {
		if s.problem.PoolCatalogs == nil {
			s.problem.PoolCatalogs = map[string]*instancetypes.Catalog{}
		}
		s.problem.PoolCatalogs[pool] = catalog
	}
	return count(len(types), "type") + ", " + count(offers, "offering"), nil
}

func parseType(line string) (*instancetypes.InstanceType, error) {
	words, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	name := words[0].key
	var opts []TypeOption
	var errs []error
	for _, w := range words[1:] {
		more, err := parseTypeWord(name, w)
		opts, errs = append(opts, more...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return Type(name, opts...), nil
}

func parseTypeWord(name string, w word) ([]TypeOption, error) {
	if strings.Contains(w.key, "@") {
		o, err := parseOffering(name, w)
		return []TypeOption{Offer(o)}, err
	}
	switch w.key {
	case "arch", "os":
		return []TypeOption{Label(expandKey(w.key), w.value)}, nil
	case "label":
		words, err := splitWords(w.value)
		var opts []TypeOption
		for _, l := range words {
			opts = append(opts, Label(l.key, l.value))
		}
		return opts, err
	case "reserve":
		amounts, err := parseAmounts(w.value)
		return []TypeOption{KubeReserved(amounts...)}, err
	}
	a, err := parseAmount(w)
	return []TypeOption{Capacity(a)}, err
}

func parseOffering(typeName string, w word) (offerings.Offering, error) {
	ct, zone, _ := strings.Cut(w.key, "@")
	o := offerings.Offering{Zone: zone, CapacityType: offerings.CapacityType(ct)}
	fail := func(err error) (offerings.Offering, error) { return o, fmt.Errorf("offering %s: %w", w, err) }
	text, overrides, err := cutOverrides(w.value)
	if err != nil {
		return fail(err)
	}
	o.Capacity, o.Overhead = overrides['+'], overrides['-']
	text, o.Unavailable = strings.CutSuffix(text, "!")
	text, rate, ok := strings.Cut(text, "~")
	if ok {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(rate, "%"), 64)
		if err != nil {
			return fail(err)
		}
		o.InterruptionRate = percent / 100
	}
	text, o.ReservationID, _ = strings.Cut(text, "#")
	text, left, ok := strings.Cut(text, "x")
	if ok {
		n, err := strconv.Atoi(left)
		if err != nil {
			return fail(err)
		}
		o.ReservationCount = n
	}
	if o.CapacityType == offerings.Reserved && o.ReservationID == "" {
		o.ReservationID = typeName + "-" + zone
	}
	if o.Price, err = offerings.ParsePrice(text); err != nil {
		return fail(err)
	}
	return o, nil
}

// cutOverrides cuts the resource lists in parentheses off an offering and returns them
// by the sign in front of them.
func cutOverrides(text string) (string, map[byte]corev1.ResourceList, error) {
	lists := map[byte]corev1.ResourceList{}
	for strings.HasSuffix(text, ")") {
		i := strings.LastIndexByte(text, '(')
		if i < 1 || text[i-1] != '+' && text[i-1] != '-' {
			return "", nil, errors.New("want + or - before a parenthesis")
		}
		amounts, err := parseAmounts(text[i+1 : len(text)-1])
		if err != nil {
			return "", nil, err
		}
		lists[text[i-1]] = Resources(amounts...)
		text = text[:i-1]
	}
	return text, lists, nil
}
