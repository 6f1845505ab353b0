package verify

import (
	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/bill"
)

// Bill judges the bill of nodes under commitments, as [billing.Settle] states it: the sums, and what each commitment covers of which
// node. It shares no code with that, and reads the nodes, which must have different names, and the commitments. It returns nil if the
// bill is right, otherwise an error that joins all faults. It does not judge [billing.Bill.UnpricedNodes] and [billing.Bill.Nodes].
func Bill(usages []billing.Usage, commitments []billing.Commitment, stated *billing.Bill) error {
	return bill.Check(usages, commitments, stated)
}
