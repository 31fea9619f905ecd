package redacttest

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Format is a key format that a provider publishes. Shape is its text with
// {Xn} for n characters of alphabet X: D digits, H hexadecimal, A letters and
// digits, U capital letters and digits, S small letters and digits, L small
// letters, C letters, W base64 for URLs, B base64.
type Format struct{ Name, Shape string }

var alphabets = map[byte]string{'D': Digits, 'H': Hex, 'A': Alnum, 'U': Capital, 'S': Small, 'L': Lower, 'C': Letters, 'W': URL64, 'B': Std64}

// Make returns a made-up key of the format, and its parts that are random.
func (f Format) Make(r *rand.Rand) (key string, secrets []string) {
	var b strings.Builder
	rest := f.Shape
	for {
		lit, after, more := strings.Cut(rest, "{")
		b.WriteString(lit)
		if !more {
			return b.String(), secrets
		}
		hole, tail, _ := strings.Cut(after, "}")
		n, _ := strconv.Atoi(hole[1:])
		v := Random(r, alphabets[hole[0]], n)
		if hole[0] == 'W' || hole[0] == 'B' { // a key does not end in a character that ends no word
			v = v[:n-1] + Random(r, Alnum, 1)
		}
		b.WriteString(v)
		secrets = append(secrets, v)
		rest = tail
	}
}

const uuid = "{H8}-{H4}-{H4}-{H4}-{H12}"

// Formats are public key formats of providers.
var Formats = []Format{
	// clouds and hosting
	{"AWS access key id", "AKIA{U16}"}, {"AWS temporary key id", "ASIA{U16}"}, {"AWS Bedrock key", "ABSK{B128}"}, {"AWS secret access key", "{A12}/{A14}+{A12}"},
	{"Google API key", "AIza{W35}"}, {"Google OAuth secret", "GOCSPX-{W28}"}, {"Google access token", "ya29.{W60}"}, {"Google refresh token", "1//0{W60}"},
	{"Azure client secret", "{A3}8Q~{W34}"}, {"Alibaba access key", "LTAI5t{A18}"}, {"Tencent secret id", "AKID{A32}"}, {"DigitalOcean token", "dop_v1_{H64}"},
	{"DigitalOcean OAuth", "doo_v1_{H64}"}, {"DigitalOcean refresh", "dor_v1_{H64}"}, {"DigitalOcean Spaces", "DO00{U16}"}, {"Cloudflare origin CA", "v1.0-{H24}-{H146}"},
	{"Heroku", "HRKU-AA{W58}"}, {"Fly.io", "fo1_{W43}"}, {"Fly.io macaroon", "fm2_{B120}"}, {"Vercel", "vcp_{A56}"}, {"Netlify", "nfp_{A36}"}, {"Render", "rnd_{A28}"},
	{"Pulumi", "pul-{H40}"}, {"Terraform Cloud", "{A14}.atlasv1.{A67}"}, {"Vault service token", "hvs.{W90}"}, {"Vault batch token", "hvb.{W138}"}, {"Vault old token", "s.{A24}"},
	{"Doppler personal", "dp.pt.{A43}"}, {"Doppler service", "dp.st.dev.{A43}"}, {"1Password service account", "ops_eyJ{A250}"}, {"1Password secret key", "A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}"},
	{"Aiven password", "AVNS_{W19}"}, {"Yandex Cloud key", "AQVN{W36}"}, {"Scaleway", "SCW{U17}"}, {"Tailscale", "tskey-auth-{A12}-{A32}"}, {"NetBird", "nbp_{A36}"}, {"age secret key", "AGE-SECRET-KEY-1{U58}"},
	{"OpenShift", "sha256~{W43}"}, {"Infracost", "ico-{A32}"}, {"Prefect", "pnu_{A36}"}, {"Databricks", "dapi{H32}"}, {"dbt Cloud", "dbtu_{A38}"},
	// databases
	{"MongoDB Atlas", "mdb_sa_sk_{W40}"}, {"PlanetScale token", "pscale_tkn_{W43}"}, {"PlanetScale password", "pscale_pw_{W43}"}, {"Supabase", "sbp_{H40}"}, {"Supabase secret", "sb_secret_{W31}"},
	{"Neon", "napi_{S64}"}, {"CockroachDB", "CCDB1_{A22}_{A40}"}, {"ClickHouse Cloud", "4b1d{A38}"}, {"Pinecone", "pcsk_{A6}_{A63}"}, {"Xata", "xau_{A35}"},
	// payment
	{"Stripe live", "sk_live_{A24}"}, {"Stripe restricted", "rk_live_{A99}"}, {"Stripe webhook", "whsec_{A32}"}, {"Square access token", "sq0atp-{W22}"}, {"Square secret", "sq0csp-{W43}"}, {"Square production", "EAAA{W60}"},
	{"Braintree", "access_token$production${S16}${H32}"}, {"Razorpay", "rzp_live_{A14}"}, {"Plaid", "access-production-" + uuid}, {"Flutterwave", "FLWSECK-{H32}-X"}, {"Mollie", "live_{A30}"}, {"GoCardless", "live_{A40}"},
	{"Lob", "test_{H35}"}, {"Duffel", "duffel_live_{W43}"}, {"Shippo", "shippo_live_{H40}"}, {"EasyPost", "EZAK{A54}"}, {"Paddle", "pdl_live_apikey_{S26}_{A22}_{A3}"}, {"Xendit", "xnd_production_{A48}"}, {"Polar", "polar_oat_{A43}"},
	// chat and mail
	{"Slack bot", "xoxb-{D12}-{D12}-{A24}"}, {"Slack user", "xoxp-{D12}-{D12}-{D12}-{H32}"}, {"Slack app", "xapp-1-{U11}-{D13}-{H64}"}, {"Slack refresh", "xoxe-1-{A146}"}, {"Slack webhook", "https://hooks.slack.com/services/T{U8}/B{U10}/{A24}"},
	{"Discord bot", "MTA4NjQy{D2}Y3NzE5NDI5{D2}MDQx.G{W5}.{W38}"}, {"Discord webhook", "https://discord.com/api/webhooks/{D18}/{W68}"}, {"Telegram bot", "{D10}:AA{W33}"}, {"Teams webhook", "https://acme.webhook.office.com/webhookb2/" + uuid + "@" + uuid + "/IncomingWebhook/{H32}/" + uuid},
	{"Twilio key", "SK{H32}"}, {"Twilio account", "AC{H32}"}, {"SendGrid", "SG.{W22}.{W43}"}, {"Mailgun", "key-{H32}"}, {"Mailchimp", "{H32}-us14"}, {"Brevo", "xkeysib-{H64}-{A16}"}, {"Resend", "re_{A8}_{A24}"}, {"MailerSend", "mlsn.{H64}"},
	{"OneSignal", "os_v2_app_{S104}"}, {"Facebook", "EAAC{A120}"},
	// code hosting, building, tracking
	{"GitHub personal", "ghp_{A36}"}, {"GitHub OAuth", "gho_{A36}"}, {"GitHub user", "ghu_{A36}"}, {"GitHub server", "ghs_{A36}"}, {"GitHub refresh", "ghr_{A36}"}, {"GitHub fine-grained", "github_pat_{A22}_{A59}"},
	{"GitLab personal", "glpat-{W20}"}, {"GitLab routable", "glpat-{W27}.{S2}{S7}"}, {"GitLab runner", "glrt-{W20}"}, {"GitLab deploy", "gldt-{W20}"}, {"GitLab trigger", "glptt-{H40}"}, {"GitLab registration", "GR1348941{W20}"},
	{"Bitbucket", "ATBB{A32}"}, {"Atlassian", "ATATT3xFfGF0{W170}"}, {"Bitbucket repository", "ATCTT3xFfGN0{W170}"}, {"Sourcegraph", "sgp_{H16}_{H40}"}, {"CircleCI", "CCIPAT_{A22}_{H40}"}, {"Buildkite", "bkua_{H40}"},
	{"Artifactory", "AKCp{A69}"}, {"Artifactory reference", "cmVmdGtuOj{A54}"}, {"Harness", "pat.{A22}.{H24}.{A20}"}, {"Octopus", "API-{U26}"}, {"SonarQube", "squ_{H40}"}, {"Sentry organization", "sntrys_eyJ{A80}"}, {"Sentry user", "sntryu_{H64}"},
	{"Linear", "lin_api_{A40}"}, {"Notion", "ntn_{D11}{A35}"}, {"Notion old", "secret_{A43}"}, {"Figma", "figd_{W40}"}, {"Airtable", "pat{A14}.{H64}"}, {"ClickUp", "pk_{D8}_{U32}"}, {"Trello", "ATTA{H64}{U8}"}, {"Postman", "PMAK-{H24}-{H34}"},
	{"Typeform", "tfp_{W44}"}, {"Contentful", "CFPAT-{W43}"}, {"Shopify", "shpat_{H32}"}, {"Shopify secret", "shpss_{H32}"}, {"HubSpot", "pat-na1-" + uuid}, {"Mapbox", "sk.eyJ{A60}.{W22}"}, {"LaunchDarkly", "api-" + uuid}, {"PostHog", "phx_{A43}"},
	{"Honeycomb", "hcaik_{S58}"}, {"New Relic user", "NRAK-{U27}"}, {"New Relic insert", "NRII-{A32}"}, {"Grafana Cloud", "glc_{B60}"}, {"Grafana service account", "glsa_{A32}_{H8}"}, {"Dynatrace", "dt0c01.{U24}.{U64}"}, {"Axiom", "xaat-" + uuid},
	{"Ory", "ory_at_{W43}.{W43}"}, {"ReadMe", "rdme_{S70}"}, {"Adobe", "p8e-{S32}"}, {"Frame.io", "fio-u-{W64}"}, {"Adafruit", "aio_{A28}"}, {"Dropbox", "sl.{W140}"},
	// package registries
	{"npm", "npm_{A36}"}, {"PyPI", "pypi-AgEIcHlwaS5vcmc{W80}"}, {"RubyGems", "rubygems_{H48}"}, {"crates.io", "cio{A32}"}, {"NuGet", "oy2{S43}"}, {"Docker Hub", "dckr_pat_{W27}"}, {"Clojars", "CLOJARS_{S60}"}, {"Open VSX", "ovsxat_" + uuid},
	// models
	{"OpenAI project", "sk-proj-{W74}T3BlbkFJ{W74}"}, {"OpenAI", "sk-{A48}"}, {"Anthropic", "sk-ant-api03-{W93}AA"}, {"OpenRouter", "sk-or-v1-{H64}"}, {"Hugging Face", "hf_{C34}"}, {"Replicate", "r8_{A37}"}, {"Groq", "gsk_{A52}"}, {"xAI", "xai-{A80}"},
	{"Perplexity", "pplx-{A48}"}, {"Together", "tgp_v1_{W43}"}, {"Fireworks", "fw_{A22}"}, {"NVIDIA", "nvapi-{W64}"}, {"Cerebras", "csk-{S48}"}, {"Voyage", "pa-{W43}"}, {"Jina", "jina_{H32}{W28}"}, {"Tavily", "tvly-{A32}"}, {"Firecrawl", "fc-{H32}"},
	{"LangSmith", "lsv2_pt_{H32}_{H10}"}, {"LlamaCloud", "llx-{A48}"}, {"ElevenLabs", "sk_{H48}"}, {"RunPod", "rpa_{U40}"}, {"Apify", "apify_api_{A36}"}, {"E2B", "e2b_{H40}"}, {"Langfuse", "sk-lf-" + uuid},
	// general
	{"JSON Web Token", "eyJ{A30}.eyJ{A60}.{W43}"}, {"unknown provider, underscore", "acme_{A24}"}, {"unknown provider, dash", "acme-{A32}"},
}
