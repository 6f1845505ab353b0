// Package offers states the supply: each NodePool with values for the labels that it leaves open (a [Template]), and
// each offering of an instance type (an [Offer]), in rank order and with labels as columns.
//
// The sets of offers that pods and daemons may use are bit rows over the offers, because a problem has thousands of
// them. The package also applies the policy to an offer: its cost for the search, and whether filters, sizes or NoSpot
// exclude it.
package offers
