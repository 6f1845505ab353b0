package steps

import (
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// reasons returns the reasons for which nodes are disrupted.
func reasons() []disruption.Reason {
	return []disruption.Reason{
		disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced,
	}
}

// forced reports whether nodes go for the reason without regard to budgets and annotations.
func forced(r disruption.Reason) bool { return r == disruption.Interrupted || r == disruption.Expired }

// needsNoSaving reports whether nodes go for the reason even where that saves no money.
func needsNoSaving(r disruption.Reason) bool { return forced(r) || r == disruption.Drifted }

// saves reports whether nodes go for the reason in order to save money.
func saves(r disruption.Reason) bool { return r == disruption.Empty || r == disruption.Underutilized }
