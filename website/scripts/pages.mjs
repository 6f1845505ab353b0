// Runs every command that a page shows, and compares the output on the page with the output of the command.
//
//   node scripts/pages.mjs            fails where they differ
//   node scripts/pages.mjs --update   writes the pages anew
//   node scripts/pages.mjs start/gke.md --update   some pages only
//
// A page holds:
//
//   cluster: examples/consolidate    in its front matter: the cluster that kubectl shows to its commands; a folder of
//                                    manifests, or "dump KIND NODES" for a cluster that benchmarks/dumps generates
//   ```sh … ```                      commands, run by bash in the order of the page, in one working directory per page
//   <!-- output -->                  followed by a ```text block: all that the commands before it print
//   <!-- output: first 12 lines -->  the first lines alone
//   <!-- output: from STEPS -->      the paragraph whose first line begins so
//   <!-- file: NAME -->              followed by a block: it is written to NAME in the working directory
//   <!-- example: FILE NAME -->      followed by a ```go block: the body of an example function of a Go test
//
// kubectl, aws, curl and go are replaced by scripts: "kubectl get" prints the page's cluster, and changes to a cluster do nothing.
// The time of decision is fixed, because expiry and budgets depend on it.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import YAML from 'yaml'

const site = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(site)
const now = '2026-11-21T09:00:00Z'
const args = process.argv.slice(2)
const update = args.includes('--update')
const chosen = args.filter((a) => !a.startsWith('--'))

// The exit codes of plimsoll that stand for bad input and wrong usage.
const failures = new Set([1, 2])

const kinds = [
  'pods', 'nodes', 'namespaces', 'services', 'persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io',
  'csinodes.storage.k8s.io', 'daemonsets.apps', 'deployments.apps', 'replicasets.apps', 'statefulsets.apps',
  'poddisruptionbudgets.policy', 'horizontalpodautoscalers.autoscaling', 'nodepools.karpenter.sh', 'nodeclaims.karpenter.sh',
]

// script writes an executable shell script.
function script(path, text) {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

// tools builds the commands, and puts them and the replacements of kubectl, aws, curl and go into a folder.
function tools(folder) {
  const bin = join(folder, 'bin')
  const real = join(folder, 'real')
  mkdirSync(bin)
  mkdirSync(real)
  execFileSync('go', ['build', '-o', real + '/', './cmd/plimsoll', './cmd/kubectl-plimsoll', './benchmarks/dumps'], { cwd: root, stdio: 'inherit' })
  script(join(bin, 'plimsoll'), `
case " $* " in
*" --now "*|*" --help "*) "${real}/plimsoll" "$@" ;;
*) case "$1" in
   consolidate|report|whatif|explain|verify) "${real}/plimsoll" "$@" --now ${now} ;;
   *) "${real}/plimsoll" "$@" ;;
   esac ;;
esac
code=$?
echo "$code $*" >>"$CODES"
exit $code`)
  execFileSync('cp', [join(real, 'kubectl-plimsoll'), join(bin, 'kubectl-plimsoll')])
  script(join(bin, 'kubectl'), `
case "$1" in
plimsoll) shift; exec kubectl-plimsoll "$@" ;;
api-resources) printf '%s\\n' ${kinds.join(' ')} ;;
get) cat "$CLUSTER" ;;
cordon|uncordon|drain)
  for name in "$@"; do
    case "$name" in -*|cordon|uncordon|drain) ;; *)
      grep -qE "\\"name\\": ?\\"$name\\"" "$CLUSTER" || { echo "no node $name" >&2; echo "2 kubectl $*" >>"$CODES"; exit 2; } ;;
    esac
  done ;;
annotate|label|patch|scale|wait|create|apply|delete|krew) ;;
*) echo "kubectl: the pages' kubectl does not know $1" >&2; echo "2 kubectl $*" >>"$CODES"; exit 2 ;;
esac`)
  const azure = {
    currencyCode: 'USD', retailPrice: 0.23, armRegionName: 'westeurope', effectiveStartDate: '2026-11-01T00:00:00Z', meterName: 'D4s v5', productName: 'Virtual Machines Dsv5 Series',
    skuName: 'D4s v5', serviceName: 'Virtual Machines', unitOfMeasure: '1 Hour', type: 'Consumption', isPrimaryMeterRegion: true, armSkuName: 'Standard_D4s_v5',
  }
  script(join(bin, 'aws'), `
case "$1" in
pricing) cat "${root}/examples/prices/aws-products.json" ;;
*) cat "${root}/examples/prices/spot-price-history.json" ;;
esac`)
  script(join(bin, 'curl'), `
case "$*" in
*prices.azure.com*) cat <<'END'
${JSON.stringify({ Items: [azure, { ...azure, skuName: 'D4s v5 Spot', retailPrice: 0.0293 }], NextPageLink: null })}
END
;;
*cloudbilling.googleapis.com*) cat "${root}/instancetypes/pricelist/testdata/gcp-skus.json" ;;
esac`)
  script(join(bin, 'go'), `
case "$1" in
install|get) ;;
*) echo "2 go $*" >>"$CODES"; exit 2 ;;
esac`)
  return { bin, real }
}

// list reads a folder of manifests as the list that kubectl prints.
function list(folder) {
  const items = []
  for (const name of readdirSync(folder).sort()) {
    if (!/\.ya?ml$/.test(name)) continue
    for (const document of YAML.parseAllDocuments(readFileSync(join(folder, name), 'utf8'))) {
      const object = document.toJS()
      if (object?.kind === 'List') items.push(...object.items)
      else if (object) items.push(object)
    }
  }
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: {}, items })
}

const clusters = new Map()
// cluster returns the objects of a cluster as JSON, by the words of a page's front matter.
function cluster(words, real) {
  if (!clusters.has(words)) {
    const [first, kind, nodes] = words.split(' ')
    clusters.set(words, first === 'dump'
      ? execFileSync(join(real, 'dumps'), ['-kind', kind, '-nodes', nodes, '-seed', '1'], { maxBuffer: 1 << 28 })
      : list(join(root, first)))
  }
  return clusters.get(words)
}

// shown selects from printed text the part that a marker asks for.
function shown(printed, part) {
  // The warning of old prices depends on the day.
  const lines = printed.replace(/^WARNING: prices are old: .*\n(?:  .*\n)+\n/gm, '').replace(/[ \t]+$/gm, '').replace(/\n+$/, '').split('\n')
  if (!part) return lines
  let match = /^first (\d+) lines?$/.exec(part)
  if (match) {
    const count = Number(match[1])
    return lines.length <= count ? lines : [...lines.slice(0, count), '…']
  }
  match = /^from (.+)$/.exec(part)
  if (match) {
    const start = lines.findIndex((l) => l.startsWith(match[1]))
    if (start < 0) throw new Error(`no line of the output begins with ${match[1]}`)
    let end = lines.findIndex((l, i) => i > start && l === '')
    if (end < 0) end = lines.length
    return lines.slice(start, end)
  }
  throw new Error(`${part}: is neither "first N lines" nor "from HEADING"`)
}

// example returns the body of an example function with the comment of its output, less one tab of indentation.
function example(file, name) {
  const text = readFileSync(join(root, file), 'utf8')
  const match = new RegExp(`^func ${name}\\(\\) \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)
  if (!match) throw new Error(`${file} has no function ${name}`)
  return match[1].replace(/^\t/gm, '').replace(/\n+$/, '').split('\n')
}

// page runs one page, and returns the text that it should have.
function page(name, folder, { bin, real }) {
  const text = readFileSync(join(site, name), 'utf8')
  const matter = /^---\n([\s\S]*?)\n---\n/.exec(text)
  const words = (matter && YAML.parse(matter[1]).cluster) || 'examples/consolidate'
  const work = mkdtempSync(join(folder, 'page-'))
  symlinkSync(join(root, 'examples'), join(work, 'examples'))
  writeFileSync(join(work, '.cluster.json'), cluster(words, real))
  const codes = join(work, '.codes')
  const env = { PATH: [bin, '/usr/bin', '/bin'].join(delimiter), HOME: work, CLUSTER: join(work, '.cluster.json'), CODES: codes, COLUMNS: '104', LANG: 'C.UTF-8', GOGC: process.env.GOGC ?? '' }
  const lines = text.split('\n')
  const out = []
  let printed = ''
  let pending = null
  for (let i = 0; i < lines.length; i++) {
    out.push(lines[i])
    const marker = /^<!-- (output|file|example)(?:: (.*?))? -->$/.exec(lines[i])
    if (marker) {
      pending = { kind: marker[1], rest: marker[2], line: i + 1 }
      continue
    }
    const fence = /^```(\w+)/.exec(lines[i])
    if (!fence) continue
    const body = []
    for (i++; i < lines.length && lines[i] !== '```'; i++) body.push(lines[i])
    if (i === lines.length) throw new Error(`${name}: a block that is not closed`)
    try {
      if (pending?.kind === 'output') out.push(...shown(printed, pending.rest))
      else if (pending?.kind === 'example') {
        const [file, fn] = pending.rest.split(' ')
        out.push(...example(file, fn))
      } else {
        out.push(...body)
        if (pending?.kind === 'file') {
          mkdirSync(dirname(join(work, pending.rest)), { recursive: true })
          writeFileSync(join(work, pending.rest), body.join('\n') + '\n')
        } else if (fence[1] === 'text') throw new Error('a text block without <!-- output -->')
        else if (fence[1] === 'sh') printed = run(body.join('\n'), work, env, codes)
      }
    } catch (e) {
      throw new Error(`${name}: the block that ends in line ${i + 1}: ${e.message}`)
    }
    pending = null
    out.push(lines[i])
  }
  return { before: text, after: out.join('\n') }
}

// run lets bash run a block, and returns its output.
function run(text, work, env, codes) {
  writeFileSync(codes, '')
  const result = spawnSync('bash', ['-c', text], { cwd: work, env, encoding: 'utf8', maxBuffer: 1 << 28 })
  const failed = readFileSync(codes, 'utf8').split('\n').filter((l) => failures.has(Number(l.split(' ')[0] || -1)))
  if (failed.length || /command not found|No such file or directory|jq: error/.test(result.stderr)) {
    throw new Error(`${text}\nfails: ${failed.join('; ')}\n${result.stderr}`)
  }
  return result.stdout
}

// pages lists the pages that are committed.
function pages(folder = site) {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name)
    const below = relative(site, path)
    if (['node_modules', '.vitepress', 'reference/go', 'reference/json.md', 'README.md', 'drawings', 'tables'].includes(below)) return []
    if (statSync(path).isDirectory()) return pages(path)
    return name.endsWith('.md') ? [below] : []
  })
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-site-'))
let wrong = 0
try {
  const built = tools(folder)
  for (const name of chosen.length ? chosen : pages()) {
    if (!existsSync(join(site, name))) throw new Error(`no page ${name}`)
    let result
    try {
      result = page(name, folder, built)
    } catch (e) {
      console.error(`error: ${e.message}`)
      wrong++
      continue
    }
    console.log(`run: ${name}`)
    if (result.before === result.after) continue
    if (update) {
      writeFileSync(join(site, name), result.after)
      console.log(`written: ${name}`)
      continue
    }
    wrong++
    const want = result.after.split('\n')
    const have = result.before.split('\n')
    const at = want.findIndex((l, i) => l !== have[i])
    console.error(`error: ${name}:${at + 1} shows\n  ${have[at]}\nbut the command prints\n  ${want[at]}\nnode scripts/pages.mjs --update writes the page anew`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (wrong) process.exit(1)
