package redact

// format is a kind of key with a fixed beginning.
type format struct {
	prefix string
	set    uint32 // of the characters that follow
	min    int    // of how many follow
	max    int    // 0: any number
	needs  uint32 // classes of which at least one character follows, each
}

// Sets of key bodies.
const (
	hexSet  = digit | hexLow
	anyHex  = digit | hexLow | hexUp
	url64   = word | dash
	std64   = alnum | base | equal
	dotted  = word | dash | dot
	pathSet = word | dash | dot | base | equal
	capital = digit | upper
	small   = digit | lower
)

// ruleFormats are the keys of storage.md 11.1, rules 3 to 5.
var ruleFormats = []format{
	{"ghp_", word, 20, 0, 0}, {"gho_", word, 20, 0, 0}, {"ghu_", word, 20, 0, 0}, {"ghs_", word, 20, 0, 0}, {"ghr_", word, 20, 0, 0},
	{"github_pat_", word, 20, 0, 0},
	{"AKIA", capital, 16, 16, 0}, {"ASIA", capital, 16, 16, 0},
	{"sk-", tokenSet, 1, 0, 0}, {"eyJ", tokenSet, 1, 0, 0},
}

// formats are the keys of decision 46: beginnings, characters and lengths that
// the providers publish. A minimum lies at or below the published length, so
// that a key stays hidden when its provider makes it longer.
var formats = []format{
	// clouds and hosting
	{"ABIA", capital, 16, 16, digit}, {"ACCA", capital, 16, 16, digit},
	{"ABSK", std64, 60, 0, digit}, {"bedrock-api-key-", std64, 30, 0, 0},
	{"AIza", url64, 30, 0, 0}, {"GOCSPX-", url64, 20, 0, 0}, {"ya29.", dotted, 20, 0, 0}, {"1//0", url64, 30, 0, 0},
	{"AQ.Ab", dotted, 30, 0, digit},
	{"dop_v1_", anyHex, 32, 0, 0}, {"doo_v1_", anyHex, 32, 0, 0}, {"dor_v1_", anyHex, 32, 0, 0}, {"dosm_v1_", anyHex, 32, 0, 0}, {"DO00", capital, 16, 16, 0},
	{"LTAI", alnum, 12, 0, digit}, {"STS.", alnum, 16, 0, digit}, {"AKID", alnum, 28, 0, digit}, {"AKLT", std64, 20, 0, digit},
	{"bce-v3/", pathSet, 20, 0, 0}, {"SCW", capital, 17, 17, digit},
	{"v1.0-", hexSet | dash, 60, 0, 0}, {"cfut_", url64, 30, 0, 0}, {"cfat_", url64, 30, 0, 0}, {"cfk_", url64, 30, 0, 0},
	{"HRKU-", url64, 30, 0, 0}, {"fo1_", url64, 30, 0, 0}, {"fm1r_", std64, 30, 0, 0}, {"fm1a_", std64, 30, 0, 0}, {"fm2_", std64, 30, 0, 0},
	{"vcp_", alnum, 20, 0, 0}, {"vci_", alnum, 20, 0, 0}, {"vca_", alnum, 20, 0, 0}, {"vcr_", alnum, 20, 0, 0}, {"vck_", alnum, 20, 0, 0},
	{"vercel_blob_rw_", url64, 20, 0, 0},
	{"nfp_", alnum, 30, 0, 0}, {"nfo_", alnum, 30, 0, 0}, {"nfc_", alnum, 30, 0, 0}, {"nfu_", alnum, 30, 0, 0}, {"nfb_", alnum, 30, 0, 0},
	{"rnd_", alnum, 20, 0, digit}, {"pul-", anyHex, 40, 0, 0}, {"dnkey-", url64 | equal, 40, 0, 0}, {"ico-", alnum, 32, 0, 0},
	{"hvs.", url64, 20, 0, 0}, {"hvb.", url64, 20, 0, 0}, {"hvr.", url64, 20, 0, 0}, {"s.", alnum, 24, 24, digit},
	{"dp.pt.", alnum, 30, 0, 0}, {"dp.st.", dotted, 30, 0, 0}, {"dp.ct.", alnum, 30, 0, 0}, {"dp.sa.", alnum, 30, 0, 0}, {"dp.scim.", alnum, 30, 0, 0}, {"dp.audit.", alnum, 30, 0, 0},
	{"ops_eyJ", std64 | under | dash, 30, 0, 0}, {"A3-", capital | dash, 30, 0, digit},
	{"AVNS_", url64, 16, 0, 0}, {"YC", url64, 38, 38, digit}, {"AQVN", url64, 30, 0, 0}, {"t1.", dotted | equal, 60, 0, 0}, {"y0_", url64, 30, 0, 0}, {"y1_", url64, 30, 0, 0},
	{"tskey-", url64, 16, 0, digit}, {"nbp_", alnum, 30, 0, 0}, {"ngrok_", url64, 30, 0, digit}, {"AGE-SECRET-KEY-1", capital, 50, 0, 0}, {"age-plugin-", url64, 60, 0, 0},
	{"api_org_", alnum, 30, 0, 0}, {"sha256~", url64, 40, 0, 0}, {"K10", std64 | under | colon, 60, 0, digit}, {"kubeconfig-u-", small | dash | colon, 40, 0, 0}, {"token-", small | dash | colon, 50, 0, digit},
	{"CCDB1_", url64, 30, 0, 0}, {"mdb_sa_sk_", url64, 30, 0, 0}, {"mdb_sa_id_", hexSet, 20, 0, 0}, {"napi_", alnum, 40, 0, 0},
	{"pscale_tkn_", dotted | equal, 20, 0, 0}, {"pscale_oauth_", dotted | equal, 20, 0, 0}, {"pscale_pw_", dotted | equal, 20, 0, 0},
	{"sbp_", hexSet | under, 30, 0, 0}, {"sb_secret_", url64, 20, 0, 0}, {"xau_", alnum, 20, 0, 0}, {"4b1d", alnum, 38, 38, 0}, {"ddog_", alnum, 30, 0, digit},
	{"dapi", hexSet | dash, 32, 0, 0}, {"dose", hexSet, 32, 0, 0}, {"dsapi", hexSet, 32, 0, 0}, {"dkea", hexSet, 32, 0, 0},
	{"dbtc_", url64, 20, 0, digit}, {"dbts_", url64, 20, 0, digit}, {"dbtu_", url64, 20, 0, digit}, {"pnu_", alnum, 30, 0, 0}, {"pnb_", alnum, 30, 0, 0},
	{"rdme_", alnum, 50, 0, 0}, {"sdp_", alnum, 40, 0, digit}, {"cflt", std64, 50, 0, digit},

	// payment
	{"sk_live_", url64, 10, 0, 0}, {"sk_test_", url64, 10, 0, digit}, {"sk_prod_", url64, 10, 0, digit}, {"sk_org_", url64, 10, 0, digit}, {"sk_sbox_", url64, 16, 0, 0}, {"sk_", small, 20, 0, digit}, {"sk_", alnum, 40, 0, digit},
	{"rk_live_", url64, 10, 0, 0}, {"rk_test_", url64, 10, 0, digit}, {"rk_prod_", url64, 10, 0, digit}, {"pk_live_", url64, 16, 0, digit}, {"pk_test_", url64, 16, 0, digit}, {"whsec_", std64, 20, 0, 0},
	{"sq0atp-", url64, 20, 0, 0}, {"sq0csp-", url64, 20, 0, 0}, {"sq0idp-", url64, 20, 0, 0}, {"EAAA", url64, 56, 0, digit}, {"EAA", alnum, 80, 0, digit},
	{"access_token$", alnum | under | dash | sigil, 40, 0, 0}, {"rzp_live_", alnum, 14, 0, 0}, {"rzp_test_", alnum, 14, 0, 0},
	{"access-sandbox-", hexSet | dash, 30, 0, 0}, {"access-development-", hexSet | dash, 30, 0, 0}, {"access-production-", hexSet | dash, 30, 0, 0},
	{"FLWSECK", alnum | under | dash, 12, 0, digit}, {"FLWPUBK", alnum | under | dash, 20, 0, digit},
	{"live_", alnum | dash, 25, 0, digit}, {"test_", alnum, 25, 0, digit}, {"live_pub_", hexSet, 28, 0, 0}, {"test_pub_", hexSet, 28, 0, 0}, {"live_", url64 | equal, 40, 0, digit | upper},
	{"duffel_live_", url64 | equal, 20, 0, 0}, {"duffel_test_", url64 | equal, 20, 0, 0}, {"shippo_live_", hexSet, 30, 0, 0}, {"shippo_test_", hexSet, 30, 0, 0},
	{"EZAK", alnum, 50, 0, 0}, {"EZTK", alnum, 50, 0, 0}, {"pdl_live_", url64, 20, 0, 0}, {"pdl_sdbx_", url64, 20, 0, 0}, {"pdl_ntfset_", url64, 20, 0, 0},
	{"xnd_production_", std64, 20, 0, 0}, {"xnd_development_", std64, 20, 0, 0}, {"Mid-server-", url64, 16, 0, 0}, {"SB-Mid-server-", url64, 16, 0, 0},
	{"APP_USR-", url64, 30, 0, digit}, {"polar_oat_", url64, 20, 0, 0}, {"polar_pat_", url64, 20, 0, 0}, {"klarna_live_", pathSet, 30, 0, 0}, {"klarna_test_", pathSet, 30, 0, 0},
	{"AQE", std64, 80, 0, digit}, {"prv_live_", url64, 20, 0, 0}, {"bt_live_", url64, 20, 0, digit}, {"ch_live_", url64, 20, 0, digit}, {"aact_prod_", std64, 30, 0, 0},

	// chat and mail
	{"xoxb-", url64, 16, 0, digit}, {"xoxp-", url64, 16, 0, digit}, {"xoxa-", url64, 16, 0, digit}, {"xoxr-", url64, 16, 0, digit}, {"xoxs-", url64, 16, 0, digit}, {"xoxo-", url64, 16, 0, digit},
	{"xoxc-", url64, 16, 0, digit}, {"xoxd-", pathSet | percent, 16, 0, 0}, {"xoxe-", url64, 16, 0, digit}, {"xoxe.", dotted, 20, 0, digit}, {"xapp-", url64, 20, 0, digit}, {"xwfp-", url64, 20, 0, digit}, {"xoxb.", dotted, 16, 0, digit},
	{"hooks.slack.com/services/", pathSet, 20, 0, 0}, {"hooks.slack.com/workflows/", pathSet, 20, 0, 0}, {"hooks.slack.com/triggers/", pathSet, 20, 0, 0}, {"hooks.slack-gov.com/services/", pathSet, 20, 0, 0},
	{"discord.com/api/webhooks/", pathSet, 30, 0, 0}, {"discordapp.com/api/webhooks/", pathSet, 30, 0, 0}, {"webhook.office.com/webhookb2/", pathSet | at, 30, 0, 0}, {"outlook.office.com/webhook/", pathSet | at, 30, 0, 0},
	{"hooks.zapier.com/hooks/catch/", pathSet, 10, 0, digit}, {"chat.googleapis.com/v1/spaces/", pathSet | query | percent, 60, 0, query},
	{"SK", hexSet, 32, 32, 0}, {"AC", hexSet, 32, 32, 0}, {"SG.", dotted, 40, 0, 0},
	{"key-", hexSet, 32, 0, 0}, {"pubkey-", hexSet, 32, 0, 0}, {"xkeysib-", hexSet | dash | alnum, 40, 0, 0}, {"xsmtpsib-", hexSet | dash | alnum, 40, 0, 0}, {"re_", url64, 24, 0, digit | upper},
	{"mlsn.", anyHex, 40, 0, 0}, {"md-", url64, 22, 22, digit | upper}, {"dG9r", std64, 40, 0, digit}, {"os_v2_app_", small, 40, 0, 0}, {"os_v2_org_", small, 40, 0, 0}, {"pk_prod_", alnum, 20, 0, 0},
	{"EAAC", alnum, 60, 0, digit}, {"EAAG", alnum, 60, 0, digit}, {"IGQV", url64, 60, 0, digit}, {"AAAAAAAAAAAAAAAAAAAA", alnum | percent | base | equal, 30, 0, lower}, {"vk1.a.", url64, 60, 0, 0},

	// code hosting, building, tracking
	{"glpat-", dotted, 16, 0, 0}, {"gldt-", dotted, 16, 0, 0}, {"glrt-", dotted, 16, 0, 0}, {"glrtr-", dotted, 16, 0, 0}, {"glcbt-", dotted, 16, 0, 0}, {"glptt-", dotted, 16, 0, 0}, {"glft-", dotted, 16, 0, 0},
	{"glsoat-", dotted, 16, 0, 0}, {"gloas-", dotted, 16, 0, 0}, {"glimt-", dotted, 16, 0, 0}, {"glagent-", dotted, 16, 0, 0}, {"glffct-", dotted, 16, 0, 0}, {"glwt-", dotted, 16, 0, 0}, {"GR1348941", url64, 16, 0, 0},
	{"ATBB", alnum, 24, 0, 0}, {"ATCTT3", url64 | equal, 30, 0, 0}, {"ATATT3", url64 | equal, 30, 0, 0}, {"ATSTT3", url64 | equal, 30, 0, 0}, {"ATOA", alnum, 40, 0, digit}, {"ATTA", hexSet | upper, 56, 0, digit},
	{"sgp_", url64, 30, 0, digit}, {"sgd_", url64, 30, 0, digit}, {"sgs_", url64, 30, 0, digit}, {"slk_", hexSet, 60, 0, 0}, {"CCIPAT_", url64, 20, 0, 0}, {"CCIPRJ_", url64, 20, 0, 0},
	{"bkua_", alnum, 30, 0, 0}, {"bkaj_", alnum, 30, 0, 0}, {"bkct_", url64, 30, 0, 0}, {"bkpt_", url64, 30, 0, 0}, {"AKCp", alnum, 60, 0, 0}, {"cmVmd", std64, 50, 0, digit},
	{"pat.", dotted, 50, 0, digit}, {"sat.", dotted, 50, 0, digit}, {"API-", capital, 24, 0, digit}, {"squ_", hexSet, 30, 0, 0}, {"sqp_", hexSet, 30, 0, 0}, {"sqa_", hexSet, 30, 0, 0}, {"sqb_", hexSet, 30, 0, 0},
	{"sntrys_", std64 | under | dash, 30, 0, 0}, {"sntryu_", hexSet, 40, 0, 0}, {"sntrya_", std64 | under, 40, 0, 0}, {"lin_api_", alnum, 30, 0, 0}, {"lin_oauth_", alnum, 30, 0, 0}, {"lin_wh_", alnum, 20, 0, 0},
	{"secret_", alnum, 40, 0, digit}, {"ntn_", alnum, 30, 0, 0}, {"figd_", url64, 30, 0, 0}, {"figu_", url64, 30, 0, 0}, {"figo_", url64, 30, 0, 0}, {"pat", alnum | dot, 60, 0, dot},
	{"pk_", alnum | under, 30, 0, digit | upper}, {"PMAK-", anyHex | dash, 40, 0, 0}, {"PMAT-", capital, 20, 0, 0}, {"tfp_", dotted, 30, 0, 0}, {"CFPAT-", url64, 30, 0, 0}, {"bb_live_", url64, 20, 0, 0},
	{"shpat_", anyHex, 20, 0, 0}, {"shpca_", anyHex, 20, 0, 0}, {"shppa_", anyHex, 20, 0, 0}, {"shpss_", anyHex, 20, 0, 0}, {"shptka_", anyHex, 20, 0, 0}, {"shpua_", anyHex, 20, 0, 0}, {"shpit_", anyHex, 20, 0, 0}, {"shpcd_", anyHex, 20, 0, 0},
	{"pat-na1-", hexSet | dash, 30, 0, 0}, {"pat-na2-", hexSet | dash, 30, 0, 0}, {"pat-eu1-", hexSet | dash, 30, 0, 0}, {"pat-ap1-", hexSet | dash, 30, 0, 0}, {"00D", dotted | bang, 60, 0, bang},
	{"pk.eyJ", dotted, 40, 0, 0}, {"tk.eyJ", dotted, 40, 0, 0}, {"sdk-", hexSet | dash, 36, 36, digit}, {"api-", hexSet | dash, 36, 36, digit}, {"mob-", hexSet | dash, 36, 36, digit},
	{"phc_", alnum, 30, 0, 0}, {"phx_", alnum, 30, 0, 0}, {"phs_", alnum, 30, 0, digit}, {"hcaik_", alnum, 40, 0, 0}, {"hcamk_", alnum, 40, 0, 0}, {"hcalk_", alnum, 40, 0, 0}, {"hcxik_", alnum, 40, 0, 0},
	{"NRAK-", alnum, 20, 0, 0}, {"NRJS-", alnum, 16, 0, 0}, {"NRII-", alnum | dash, 20, 0, 0}, {"NRIQ-", alnum | dash, 20, 0, 0}, {"NRRA-", alnum, 30, 0, 0}, {"NRBR-", alnum, 16, 0, 0},
	{"glc_", std64, 30, 0, 0}, {"glsa_", url64, 30, 0, 0}, {"dt0c01.", dotted, 40, 0, 0}, {"dt0s01.", dotted, 40, 0, 0}, {"dt0s02.", dotted, 40, 0, 0}, {"dt0s16.", dotted, 40, 0, 0}, {"xaat-", hexSet | dash, 30, 0, 0}, {"xapt-", hexSet | dash, 30, 0, 0},
	{"pylf_v1_", url64, 20, 0, 0}, {"essu_", std64, 30, 0, 0}, {"PAT_", alnum | under, 40, 0, digit}, {"snyk_", dotted | dash, 40, 0, digit}, {"hawk.", dotted, 30, 0, 0}, {"ATAT_", url64, 40, 0, digit},
	{"retool_", alnum, 20, 0, digit}, {"tr_prod_", alnum, 16, 0, 0}, {"tr_dev_", alnum, 16, 0, 0}, {"tr_pat_", alnum, 16, 0, 0}, {"signkey-prod-", hexSet, 30, 0, 0}, {"signkey-test-", hexSet, 30, 0, 0},
	{"sec-c-", alnum | dash | base | equal, 40, 0, digit}, {"ory_at_", dotted, 30, 0, 0}, {"ory_rt_", dotted, 30, 0, 0}, {"ory_pat_", dotted, 20, 0, 0}, {"ory_st_", dotted, 20, 0, 0}, {"secret-live-", url64 | equal, 20, 0, 0}, {"secret-test-", url64 | equal, 30, 0, digit},
	{"s-s4t2ud-", hexSet, 40, 0, 0}, {"s-s4t2af-", hexSet, 40, 0, 0}, {"p8e-", small, 32, 0, 0}, {"p8-", small, 40, 0, digit}, {"fio-u-", url64 | equal, 30, 0, 0}, {"aio_", alnum, 24, 0, digit}, {"sl.u.", url64, 60, 0, 0}, {"sl.", url64 | equal, 100, 0, 0},
	{"censys_", url64, 20, 0, digit}, {"xprv", alnum, 100, 0, 0}, {"nsec1", small, 50, 0, 0}, {"AQ", url64, 70, 0, 0}, {"v2.local.", url64, 40, 0, 0}, {"v4.local.", url64, 40, 0, 0}, {"v4.public.", url64, 40, 0, 0},

	// package registries
	{"npm_", alnum, 30, 0, 0}, {"pypi-", url64, 30, 0, digit | upper}, {"rubygems_", hexSet, 40, 0, 0}, {"cio", alnum, 32, 32, digit}, {"oy2", small, 43, 43, digit}, {"dckr_pat_", url64, 20, 0, 0}, {"dckr_oat_", url64, 20, 0, 0},
	{"CLOJARS_", small, 50, 0, 0}, {"packagist_", url64, 40, 0, digit}, {"jsr", alnum | under, 40, 0, digit | under}, {"ddp_", alnum, 30, 0, 0}, {"ddo_", alnum, 30, 0, 0}, {"ovsxat_", hexSet | dash, 30, 0, 0}, {"ovsxp_", hexSet | dash, 30, 0, 0},
	{"csa_", hexSet, 40, 0, 0}, {"pyx_", url64, 40, 0, digit}, {"uv_", url64, 60, 0, digit},

	// models
	{"hf_", alnum, 30, 0, 0}, {"r8_", alnum, 30, 0, 0}, {"gsk_", alnum, 30, 0, 0}, {"xai-", alnum, 40, 0, 0}, {"pplx-", alnum, 30, 0, 0}, {"tgp_v1_", url64, 30, 0, 0}, {"fw_", alnum, 20, 0, digit},
	{"nvapi-", url64, 40, 0, 0}, {"csk-", alnum, 30, 0, 0}, {"pa-", url64, 40, 0, digit | upper}, {"al-", url64, 40, 0, digit | upper}, {"jina_", url64, 40, 0, 0}, {"tvly-", url64, 20, 0, 0}, {"fc-", hexSet, 30, 0, 0},
	{"lsv2_pt_", url64, 30, 0, 0}, {"lsv2_sk_", url64, 30, 0, 0}, {"ls__", url64, 30, 0, 0}, {"llx-", alnum, 30, 0, 0}, {"wandb_v1_", url64, 30, 0, 0}, {"pcsk_", url64, 30, 0, 0}, {"esecret_", alnum, 20, 0, 0}, {"pk-lf-", url64, 30, 0, 0},
	{"ak-", alnum, 20, 0, digit | upper}, {"as-", alnum, 20, 0, digit | upper}, {"rpa_", alnum, 30, 0, 0}, {"e2b_", hexSet, 30, 0, 0}, {"sess-", alnum, 30, 0, 0}, {"key_", hexSet, 40, 0, 0}, {"pst-", alnum, 40, 0, 0},
	{"apify_api_", alnum, 30, 0, 0}, {"apify_proxy_", alnum, 20, 0, 0}, {"bb_prod_", alnum, 20, 0, 0}, {"m0-", alnum, 30, 0, digit}, {"co-", alnum, 38, 0, digit | upper}, {"pl_", hexSet, 30, 0, 0}, {"inf_", url64, 30, 0, digit}, {"cpk_", url64, 40, 0, digit},
	{"secret-token:", dotted | percent, 8, 0, 0},
}
