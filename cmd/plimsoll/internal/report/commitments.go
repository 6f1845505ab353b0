package report

import (
	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// billRows are the tables of the bill under commitments, as texts.
type billRows struct {
	Parts []billPart
	Uses  []billUse
	Notes []string
	// Offers are the commitments on offer that would save the most, in the columns OfferColumns.
	Offers       [][]string
	OfferColumns []string
	OfferNotes   []string
}

// mostOffers is the largest number of commitments on offer that the page lists.
const mostOffers = 10

// billPart is a row of the bill, per month.
type billPart struct{ Name, Today, After string }

// billUse is the use of a commitment.
type billUse struct {
	Name, Unit, Amount, Elsewhere, Today, After, Unused string
	// Nodes are the nodes that it covers after the steps.
	Nodes []string
}

// UnderCommitments is the bill under commitments and discounts; nil without any.
func (p page) UnderCommitments() *billRows {
	if p.Bill == nil {
		return nil
	}
	out := &billRows{Notes: bills.Notes(&p.Bill.After), Offers: bills.Offers(p.Bill), OfferColumns: bills.OfferColumns(), OfferNotes: bills.OfferNotes(p.Bill)}
	out.Offers = out.Offers[:min(len(out.Offers), mostOffers)]
	for _, part := range bills.Parts(p.Bill) {
		out.Parts = append(out.Parts, billPart{part.Name, figures.Dollars(figures.Cents(part.Before)), figures.Dollars(figures.Cents(part.After))})
	}
	before := bills.Uses(&p.Bill.Before)
	for i, u := range bills.Uses(&p.Bill.After) {
		names := lo.Map(u.Nodes, func(c billing.Coverage, _ int) string { return p.NodeName(c.Node) })
		out.Uses = append(out.Uses, billUse{u.Commitment, u.Unit, bills.Amount(u.Amount), bills.Amount(u.Elsewhere), bills.Amount(before[i].Used), bills.Amount(u.Used), bills.Amount(u.Unused), names})
	}
	return out
}
