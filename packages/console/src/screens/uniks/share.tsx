/** Link to the page of a unik, as a text and as a QR code. */
import { CodeBlock } from "../../components/code-block.tsx";
import { QrCodeView } from "../../components/qr-code.tsx";

export default function Share({ link }: { link: string }) {
  return (
    <div class="share">
      <QrCodeView text={link} label="The link as a QR code" />
      <CodeBlock text={link} what="link" />
      {/:\/\/(localhost|127\.|\[::1)/.test(link) && <p>It opens only on this machine.</p>}
    </div>
  );
}
