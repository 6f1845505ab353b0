package billing_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Three nodes of which a savings plan covers two: the bill is the plan and the third node.
func ExampleSettle() {
	file := strings.NewReader(`commitments: [{id: plan, kind: savings-plan, amount: 0.1382, factor: 0.72}]`)
	in, err := billing.Read(time.Now(), billing.File{Name: "billing.yaml", In: file})
	if err != nil {
		log.Fatal(err)
	}
	m5, _ := ec2.MustCatalog("us-east-1").Get("m5.large")
	var usages []billing.Usage
	for i := range m5.Offerings {
		if o := &m5.Offerings[i]; o.CapacityType == offerings.OnDemand && len(usages) < 3 {
			usages = append(usages, billing.UsageOf(fmt.Sprint("node-", i), m5, o))
		}
	}
	bill := billing.Settle(usages, in.Commitments)
	fmt.Println("list:", bill.List, "uncovered:", bill.Uncovered, "plan:", bill.Committed)
	// Output: list: 0.288 uncovered: 0.096055556 plan: 0.1382
}
