// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

#include "push/stream_internal.h"

struct tls_trust {
	mbedtls_x509_crt authorities;
};

struct tls {
	int socket;
	mbedtls_entropy_context entropy;
	mbedtls_ctr_drbg_context random;
	mbedtls_ssl_config config;
	mbedtls_ssl_context ssl;
};

DEFINE_OWN(struct tls, tls_close)

int tls_trust_new(const char *pem, size_t size, struct tls_trust **ret_trust)
{
	own(own_tls_trust_free) struct tls_trust *trust = calloc(1, sizeof(*trust));
	own(own_free) char *text = malloc(size + 1);
	int r;

	if (!trust || !text)
		return -ENOMEM;
	mbedtls_x509_crt_init(&trust->authorities);
	/* The parser knows PEM by the NUL that ends it. */
	memcpy(text, pem, size);
	text[size] = '\0';
	r = mbedtls_x509_crt_parse(&trust->authorities, (const unsigned char *)text, size + 1);
	/* Positive: so many of the certificates are of kinds that the library does not know. */
	if (r < 0 || trust->authorities.version == 0)
		return -EINVAL;
	*ret_trust = take_ptr(trust);
	return 0;
}

void tls_trust_free(struct tls_trust *trust)
{
	if (!trust)
		return;
	mbedtls_x509_crt_free(&trust->authorities);
	free(trust);
}

static int send_some(void *context, const unsigned char *bytes, size_t size)
{
	const struct tls *tls = context;
	ssize_t n = send(tls->socket, bytes, size, MSG_NOSIGNAL);

	if (n >= 0)
		return (int)n;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE
						 : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static int receive_some(void *context, unsigned char *bytes, size_t size)
{
	const struct tls *tls = context;
	ssize_t n = recv(tls->socket, bytes, size, 0);

	if (n >= 0)
		return (int)n;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ
						 : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

/* After a call returned `r`: 0 if it is to be repeated, as the socket is ready now. */
static int wait_for(struct tls *tls, int r, uint64_t deadline_ms)
{
	if (r == MBEDTLS_ERR_SSL_WANT_READ || r == MBEDTLS_ERR_SSL_WANT_WRITE)
		return tcp_wait(tls->socket, r == MBEDTLS_ERR_SSL_WANT_WRITE, deadline_ms);
	return -ECONNRESET;
}

static int set_up(struct tls *tls, const char *host, const struct tls_trust *trust)
{
	int r = mbedtls_ctr_drbg_seed(&tls->random, mbedtls_entropy_func, &tls->entropy, NULL, 0);

	if (r == 0)
		r = mbedtls_ssl_config_defaults(&tls->config, MBEDTLS_SSL_IS_CLIENT,
						MBEDTLS_SSL_TRANSPORT_STREAM,
						MBEDTLS_SSL_PRESET_DEFAULT);
	if (r != 0)
		return r;
	mbedtls_ssl_conf_authmode(&tls->config, MBEDTLS_SSL_VERIFY_REQUIRED);
	mbedtls_ssl_conf_min_version(&tls->config, MBEDTLS_SSL_MAJOR_VERSION_3,
				     MBEDTLS_SSL_MINOR_VERSION_3);
	mbedtls_ssl_conf_ca_chain(&tls->config, (mbedtls_x509_crt *)&trust->authorities, NULL);
	mbedtls_ssl_conf_rng(&tls->config, mbedtls_ctr_drbg_random, &tls->random);
	r = mbedtls_ssl_setup(&tls->ssl, &tls->config);
	if (r == 0)
		r = mbedtls_ssl_set_hostname(&tls->ssl, host);
	mbedtls_ssl_set_bio(&tls->ssl, tls, send_some, receive_some, NULL);
	return r;
}

static void explain(struct tls *tls, int r, char why[STREAM_WHY_SIZE])
{
	uint32_t flags = mbedtls_ssl_get_verify_result(&tls->ssl);
	char text[STREAM_WHY_SIZE - 40];

	if (r == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED && flags) {
		mbedtls_x509_crt_verify_info(text, sizeof(text), "", flags);
		text[strcspn(text, "\n")] = '\0';
		snprintf(why, STREAM_WHY_SIZE, "its certificate is not trusted: %s", text);
		return;
	}
	mbedtls_strerror(r, text, sizeof(text));
	snprintf(why, STREAM_WHY_SIZE, "TLS failed: %s", text);
}

int tls_open(int socket, const char *host, const struct tls_trust *trust, uint64_t deadline_ms,
	     struct tls **ret_tls, char why[STREAM_WHY_SIZE])
{
	own(own_tls_close) struct tls *tls = calloc(1, sizeof(*tls));
	int r, waited;

	if (!tls)
		return -ENOMEM;
	tls->socket = socket;
	mbedtls_entropy_init(&tls->entropy);
	mbedtls_ctr_drbg_init(&tls->random);
	mbedtls_ssl_config_init(&tls->config);
	mbedtls_ssl_init(&tls->ssl);
	r = set_up(tls, host, trust);
	if (r == 0)
		r = mbedtls_ssl_handshake(&tls->ssl);
	while (r == MBEDTLS_ERR_SSL_WANT_READ || r == MBEDTLS_ERR_SSL_WANT_WRITE) {
		waited = wait_for(tls, r, deadline_ms);
		if (waited < 0) {
			snprintf(why, STREAM_WHY_SIZE, "TLS: %s", strerror(-waited));
			return waited;
		}
		r = mbedtls_ssl_handshake(&tls->ssl);
	}
	if (r != 0) {
		explain(tls, r, why);
		return -EPROTO;
	}
	*ret_tls = take_ptr(tls);
	return 0;
}

void tls_close(struct tls *tls)
{
	if (!tls)
		return;
	mbedtls_ssl_free(&tls->ssl);
	mbedtls_ssl_config_free(&tls->config);
	mbedtls_ctr_drbg_free(&tls->random);
	mbedtls_entropy_free(&tls->entropy);
	free(tls);
}

int tls_write(struct tls *tls, const void *bytes, size_t size, uint64_t deadline_ms)
{
	const unsigned char *from = bytes;

	while (size > 0) {
		int n = mbedtls_ssl_write(&tls->ssl, from, size), r;

		if (n > 0) {
			from += n;
			size -= (size_t)n;
			continue;
		}
		r = wait_for(tls, n, deadline_ms);
		if (r < 0)
			return r;
	}
	return 0;
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t size, uint64_t deadline_ms)
{
	for (;;) {
		int n = mbedtls_ssl_read(&tls->ssl, bytes, size), r;

		if (n >= 0)
			return n;
		if (n == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
			return 0;
		r = wait_for(tls, n, deadline_ms);
		if (r < 0)
			return r;
	}
}
