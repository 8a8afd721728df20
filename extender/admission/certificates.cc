#include "extender/admission/certificates.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

#include <climits>
#include <memory>
#include <stdexcept>

namespace crossover::extender::admission {
namespace {

struct Closer {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};
template <class T>
using Owned = std::unique_ptr<T, Closer>;

// Clears OpenSSL's error queue at the end of its scope. Here a certificate that cannot be read is an ordinary
// result. Without this, the next OpenSSL call of this thread would report that failure.
struct Forgotten {
  ~Forgotten() { ERR_clear_error(); }
};

void Check(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(std::string("certificate: ") + what + " failed");
}

Owned<BIO> Reader(const std::string& text) {
  return Owned<BIO>(text.size() <= INT_MAX ? BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))
                                           : nullptr);
}

Owned<X509> CertificateOf(const std::string& pem) {
  const Owned<BIO> bio = Reader(pem);
  return Owned<X509>(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
}

Owned<EVP_PKEY> KeyOf(const std::string& pem) {
  const Owned<BIO> bio = Reader(pem);
  // The program cannot ask for a password, so a key that needs one counts as unreadable.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  return Owned<EVP_PKEY>(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr);
}

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

Pair PairOf(X509* certificate, EVP_PKEY* key) {
  const Owned<BIO> first(BIO_new(BIO_s_mem())), second(BIO_new(BIO_s_mem()));
  Check(first && second, "BIO_new");
  Check(PEM_write_bio_X509(first.get(), certificate) == 1, "PEM_write_bio_X509");
  Check(PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "PEM_write_bio_PrivateKey");
  return {TextOf(first.get()), TextOf(second.get())};
}

void Extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  Check(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

// Returns a new unsigned certificate with the fields that all kinds share: serial number, validity, name and
// public key.
Owned<X509> Begun(EVP_PKEY* key, const char* name, std::int64_t now_s, std::int64_t lasts_s) {
  constexpr int kSerialBits = 159;  // RFC 5280 allows 20 bytes, and the number must be positive
  constexpr int kVersion3 = 2;
  Owned<X509> made(X509_new());
  const Owned<BIGNUM> serial(BN_new());
  Check(made && serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1,
        "BN_rand");
  Check(BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made.get())) != nullptr, "BN_to_ASN1_INTEGER");
  Check(X509_set_version(made.get(), kVersion3) == 1 && X509_set_pubkey(made.get(), key) == 1,
        "X509_set_pubkey");
  Check(ASN1_TIME_set(X509_getm_notBefore(made.get()), now_s - kClockSkew_s) != nullptr &&
            ASN1_TIME_set(X509_getm_notAfter(made.get()), now_s + lasts_s) != nullptr,
        "ASN1_TIME_set");
  Check(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(name), -1, -1, 0) == 1,
        "X509_NAME_add_entry_by_txt");
  return made;
}

std::int64_t SecondsOf(const ASN1_TIME* time) {
  tm broken{};
  return ASN1_TIME_to_tm(time, &broken) == 1 ? timegm(&broken) : 0;
}

std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> found;
  const Owned<GENERAL_NAMES> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    found.emplace_back(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  return found;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    Check(!name.empty() &&
              name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos,
          "a name that is no DNS name");
    list += (list.empty() ? "DNS:" : ",DNS:") + name;
  }
  Check(!list.empty(), "a certificate without names");
  return list;
}

}  // namespace

Pair MakeAuthority(std::int64_t now_s) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "EVP_EC_gen");
  const Owned<X509> made = Begun(key.get(), "Crossover admission authority", now_s, kAuthorityLasts_s);
  Check(X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1, "X509_set_issuer_name");
  Extend(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  Extend(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  Extend(made.get(), made.get(), NID_subject_key_identifier, "hash");
  Check(X509_sign(made.get(), key.get(), EVP_sha256()) > 0, "X509_sign");
  return PairOf(made.get(), key.get());
}

Pair MakeServing(const Pair& authority, const std::vector<std::string>& names, std::int64_t now_s) {
  const Owned<X509> issuer = CertificateOf(authority.certificate);
  const Owned<EVP_PKEY> signer = KeyOf(authority.key);
  Check(issuer && signer, "reading the authority");
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "EVP_EC_gen");
  const Owned<X509> made = Begun(key.get(), "Crossover admission", now_s, kServingLasts_s);
  Check(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) == 1, "X509_set_issuer_name");
  Extend(made.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  Extend(made.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
  Extend(made.get(), issuer.get(), NID_ext_key_usage, "serverAuth");
  Extend(made.get(), issuer.get(), NID_subject_alt_name, Listed(names));
  Extend(made.get(), issuer.get(), NID_subject_key_identifier, "hash");
  // While one authority replaces another, both have the same name. The key identifier tells them apart.
  Extend(made.get(), issuer.get(), NID_authority_key_identifier, "keyid:always");
  Check(X509_sign(made.get(), signer.get(), EVP_sha256()) > 0, "X509_sign");
  return PairOf(made.get(), key.get());
}

std::optional<Facts> FactsOf(const Pair& pair) {
  const Forgotten forgotten;
  const Owned<X509> certificate = CertificateOf(pair.certificate);
  const Owned<EVP_PKEY> key = KeyOf(pair.key);
  if (!certificate || !key || X509_check_private_key(certificate.get(), key.get()) != 1) return std::nullopt;
  Facts facts;
  facts.from_s = SecondsOf(X509_get0_notBefore(certificate.get()));
  facts.until_s = SecondsOf(X509_get0_notAfter(certificate.get()));
  facts.authority = X509_check_ca(certificate.get()) == 1;
  facts.serves = X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0) == 1;
  facts.names = NamesOf(certificate.get());
  return facts;
}

bool IsSignedBy(const std::string& certificate, const std::string& authority) {
  const Forgotten forgotten;
  const Owned<X509> signed_one = CertificateOf(certificate), issuer = CertificateOf(authority);
  if (!signed_one || !issuer) return false;
  EVP_PKEY* key = X509_get0_pubkey(issuer.get());
  return key != nullptr && X509_verify(signed_one.get(), key) == 1;
}

}  // namespace crossover::extender::admission
