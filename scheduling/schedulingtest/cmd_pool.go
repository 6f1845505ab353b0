package schedulingtest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// cmdPool adds a NodePool, or replaces the one of that name. Without any, solve
// uses a pool called default that may buy everything.
//
//	pool NAME [weight=N] [limits=(RESOURCE=QUANTITY…)] [replicas=N] [none]
//	[where=(REQUIREMENT, …)] [taint=TAINT]… [startup=TAINT]… [label=(KEY=VALUE…)]
//
// The word none removes the pool. The words may stand on one line or on several.
func cmdPool(_ context.Context, s *session, args []word, input []string) (string, error) {
	more, err := splitWords(strings.Join(input, " "))
	if err != nil {
		return "", err
	}
	if len(args) == 0 || args[0].hasValue {
		return "", errors.New("want the pool's name")
	}
	name := args[0].key
	s.problem.NodePools = slices.DeleteFunc(s.problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
	words := slices.Concat(args[1:], more)
	if len(words) == 1 && words[0].key == "none" {
		return count(len(s.problem.NodePools), "pool"), nil
	}
	var opts []NodePoolOption
	var errs []error
	for _, w := range words {
		more, err := parsePoolWord(w)
		opts, errs = append(opts, more...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	s.problem.NodePools = append(s.problem.NodePools, NodePool(name, opts...))
	return count(len(s.problem.NodePools), "pool"), nil
}

func parsePoolWord(w word) ([]NodePoolOption, error) {
	switch w.key {
	case "weight":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return []NodePoolOption{Weight(int32(n))}, err
	case "replicas":
		n, err := strconv.ParseInt(w.value, 10, 64)
		return []NodePoolOption{Replicas(n)}, err
	case "limits":
		amounts, err := parseAmounts(w.value)
		return []NodePoolOption{Limit(amounts...)}, err
	case "where":
		exprs, err := parseExprs(w.value)
		return []NodePoolOption{Where(exprs...)}, err
	case "taint":
		t, err := parseTaint(w.value)
		return []NodePoolOption{Taint(t.Key, t.Value, t.Effect)}, err
	case "startup":
		t, err := parseTaint(w.value)
		return []NodePoolOption{StartupTaint(t.Key, t.Value, t.Effect)}, err
	case "label":
		words, err := splitWords(w.value)
		var opts []NodePoolOption
		for _, l := range words {
			opts = append(opts, Label(expandKey(l.key), l.value))
		}
		return opts, err
	}
	return nil, unexpected(w)
}
