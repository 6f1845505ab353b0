// Command plimsoll works out which nodes the pods of Kubernetes manifests need, with a proven lower bound on their price, and
// which nodes of a cluster can be removed or replaced. It runs offline.
//
//	plimsoll plan -f shop.yaml                      the nodes to launch, and their price
//	kubectl get pods,nodes,hpa,ds,pvc,pv,sc,csinodes,nodeclaims,nodepools,ec2nodeclasses -A -o json | plimsoll plan -f -
//	plimsoll consolidate -f cluster.json            the nodes to remove, in which order, and the saving
//	plimsoll report -f cluster.json -o report.html  the same as a page to pass on
//	plimsoll whatif -f cluster.json --case 'no spot: --no-spot'   the price under other settings
//	plimsoll diff before.json after.json            how two plans differ, in dollars
//	plimsoll lint -f cluster.json                   needless costs, and settings that do not work
//	plimsoll redact -f cluster.json                 a dump without confidential names
//	plimsoll explain pod/shop/web-0 -f shop.yaml    why a pod has its node, or none
//	plimsoll explain node/general-1 -f shop.yaml    why a node has its type
//	plimsoll verify -f shop.yaml --plan plan.json   whether a plan obeys every rule
//	plimsoll catalog --filter 'arch=arm64,cpu>=8'   instance types and their prices
//
// Only results go to stdout. The exit code is 0 if every pod has a place, 3 if pods have none (the plan is printed
// nevertheless), 4 if a price is above --fail-above, 5 if lint has findings, 1 for bad input and 2 for wrong usage; after 1 and 2
// stdout is empty.
package main
